package live

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"bourse/bank"
	bankorder "bourse/bank/order"
	"bourse/bank/teller"
	"bourse/contracts/order"
	"bourse/hosts"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A Checked is the state and result of the check of a log.
type Checked struct {
	Records     int64    `json:"records" doc:"number of the last record"`
	First       int64    `json:"first" doc:"number of the first record; earlier records were deleted or belong to another version"`
	Contracts   int      `json:"contracts" doc:"number of contracts that have ended"`
	Calls       int      `json:"calls" doc:"number of calls to the bank: admissions, rejections, settlements and penalties"`
	Differences []string `json:"differences"`
	Unsettled   []string `json:"unsettled,omitempty" doc:"contracts that the bank had refused to settle by the end of the log, with the reasons"`

	number  int64            // number of the market
	next    int64            // lowest contract number that the first record may create
	before  []int64          // contracts that were open before the first record
	orphans map[int64]bool   // unknown contracts whose escrow was refunded
	open    bool             // whether the last record has no outcome and may be incomplete
	calls   map[string]*call // entries booked according to the log, by kind and contract
	budgets map[int64]bank.Amount
	seen    map[string]bool // keys of answers and contracts that a record explains
}

// Check passes the records of the log in dir to a new broker and compares the results with the
// log, byte by byte: each decision, placement, charge and settlement, each started task, each
// stored answer, and the state in each checkpoint. It does not call the bank. If entries is not
// nil, it must contain all entries of the bank's ledger. Check then reports entries of this
// market that are missing from the ledger, missing from the log, or different. Check stops at
// the first record whose result differs.
func Check(dir string, fs vfs.FS, entries iter.Seq[*bank.Entry]) (*Checked, error) {
	l, err := openLog(dir, fs, true, nil)
	if err != nil {
		return nil, err
	}
	out := &Checked{Differences: []string{}, calls: make(map[string]*call), orphans: make(map[int64]bool), budgets: make(map[int64]bank.Amount), seen: make(map[string]bool)}
	err = errors.Join(out.check(l), l.db.Close())
	if err == nil && entries != nil && len(out.Differences) == 0 {
		out.compare(entries)
	}
	return out, err
}

func (out *Checked) check(l *log) (err error) {
	as, conf, err := l.made()
	if err != nil {
		return err
	}
	k, from, err := l.begun(as, &conf)
	if err != nil {
		return err
	}
	since, err := l.upgraded()
	if since = max(since, l.first-1); err == nil && from > since+1 {
		err = fmt.Errorf("the checkpoint of record %d is damaged", since)
	}
	like, e := as.core(&conf)
	if err = errors.Join(err, e); err != nil {
		return err
	}
	out.number, out.next, out.before = as.Number, as.Number<<perMarket+k.next, slices.Collect(maps.Keys(k.open))
	for id, c := range k.open {
		out.budgets[id] = c.Budget
	}
	out.First, out.Records = from+1, from
	begun, saved := k.now, make(map[int64]bool) // records with checkpoints
	for _, table := range []byte(numberedTables) {
		for seq := range l.each(table, 0, &err) {
			if seq > l.seq {
				return fmt.Errorf("found %d as the last record, want record %d, which is missing", l.seq, seq)
			}
			if table != outcomeTable && table != begunTable {
				saved[seq] = true
			} else if seq < l.first {
				return fmt.Errorf("found record %d as the first, want record %d, which is missing", l.first, seq)
			}
		}
	}
	if from > 0 {
		err = errors.Join(err, out.stored(l, k, like, from))
	}
	for t := range l.retold(k, from+1, &err) {
		if !t.done {
			out.open = true // the step of the last record may not have been executed
			break
		}
		if errors.Is(t.err, errOtherwise) {
			out.Differences = append(out.Differences, t.err.Error())
			return nil
		}
		if t.err != nil {
			return t.err
		}
		o := &t.outcome
		for i := range o.Calls {
			c := &o.Calls[i]
			of := k.open[c.Contract]
			if at := slices.IndexFunc(k.ended, func(e *Contract) bool { return e.ID == c.Contract }); at >= 0 {
				of = k.ended[at]
			}
			if of != nil && c.Kind == "settle" {
				c.Who = of.payer()
			}
			if of != nil && (c.Kind == "hold" || c.Kind == "reject") {
				c.order = of.order
			}
			for n := range t.record.Messages {
				if m := &t.record.Messages[n]; c.Kind == "adjust" && m.Bid != "" {
					if account, id, _ := orderID(m.Bid); account+"/"+id == c.Order {
						c.order = m.Bid
					}
				}
			}
			if c.Kind == "return" && c.booked() {
				out.orphans[c.Contract] = true
			}
			if c.booked() && (c.Kind == "hold" || c.Kind == "adjust") {
				c.was, out.budgets[c.Contract] = out.budgets[c.Contract], c.Amount
			}
			if c.booked() {
				out.calls[entryID(booksAs[c.Kind], c.Contract, c.Order)] = c
			}
		}
		out.Records, out.Calls, out.Contracts = t.seq, out.Calls+len(o.Calls), out.Contracts+len(k.ended)
		values := map[string]any{string(key(outcomeTable, t.seq)): nil, string(key(begunTable, t.seq)): nil}
		maps.Copy(values, k.written(t.seq, t.record, t.results))
		for _, name := range slices.Sorted(maps.Keys(values)) {
			var is []byte
			if values[name] != nil {
				if is, err = encode(values[name]); err != nil {
					return err
				}
			}
			if err := out.value(l, t.seq, name, is); err != nil {
				return err
			}
		}
		if saved[t.seq] {
			if err := out.stored(l, k, like, t.seq); err != nil {
				return err
			}
		}
		if len(out.Differences) > 0 {
			return nil
		}
	}
	for i := range k.unsettled {
		out.Unsettled = append(out.Unsettled, k.unsettled[i].String())
	}
	if err == nil && len(out.Differences) == 0 {
		err = out.others(l, from, begun)
	}
	return err
}

// value compares a value that a step writes, which is nil for none, with the log.
func (out *Checked) value(l *log, seq int64, key string, is []byte) error {
	was, err := l.raw([]byte(key))
	if key[0] == answerTable || key[0] == contractTable {
		out.seen[key] = true
	}
	if err == nil && !bytes.Equal(was, is) {
		text := fmt.Sprintf("record %d: %s: this version writes %s, but the log contains %s", seq, keyName(key), cmp.Or(string(is), "nothing"), cmp.Or(string(was), "nothing"))
		if key[0] == checkpointTable {
			text = fmt.Sprintf("record %d: the log contains %s with another state", seq, keyName(key))
		}
		out.Differences = append(out.Differences, text)
	}
	return err
}

// stored compares the stored states of the market after record seq with the core.
func (out *Checked) stored(l *log, k, like *core, seq int64) error {
	values, err := k.stored(seq, like)
	if l.has(baseTable, seq) && err == nil {
		values[string(key(baseTable, seq))], err = encode(k.base(seq))
	}
	if rest := string(key(restTable, seq)); values[rest] == nil {
		values[rest] = nil // none is expected
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err == nil {
			err = out.value(l, seq, name, values[name])
		}
	}
	return err
}

// others checks the values that are not those of a record: the version, and the answers and
// contracts that no record explains. Earlier records may explain those from before the first
// record, whose number is from+1 and which follows the given time.
func (out *Checked) others(l *log, from int64, begun float64) error {
	it, err := l.db.NewIter(nil)
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		table, odd := it.Key()[0], ""
		switch name := string(it.Key()); {
		case out.seen[name], name == string(madeTable):
		case name == string(versionTable):
			var version string
			if err := json.Unmarshal(it.Value(), &version); err != nil || !strings.HasPrefix(version, recordFormat+" ") {
				odd = fmt.Sprintf("the version %.80s, want format %s", it.Value(), recordFormat)
			}
		case table == answerTable:
			var a answered
			if err := json.Unmarshal(it.Value(), &a); err != nil || from == 0 || a.Answer.At > begun {
				odd = keyName(name) + ", which no record explains"
			}
		case len(name) == 9 && table == contractTable:
			if id := int64(binary.BigEndian.Uint64(it.Key()[1:])); from == 0 || id >= out.next || slices.Contains(out.before, id) {
				odd = keyName(name) + ", which no record explains"
			}
		case len(name) == 9 && (table == recordTable || strings.IndexByte(numberedTables, table) >= 0):
		default:
			odd = fmt.Sprintf("the unknown key %q", name)
		}
		if odd != "" {
			out.Differences = append(out.Differences, "the log contains "+odd)
		}
	}
	return errors.Join(it.Error(), it.Close())
}

// keyName names the value of a key of the log.
func keyName(key string) string {
	switch key[0] {
	case contractTable:
		return fmt.Sprintf("the end of contract %d", binary.BigEndian.Uint64([]byte(key[1:])))
	case answerTable:
		return "the answer to order " + key[1:]
	case outcomeTable:
		return "the outcome"
	case begunTable:
		return "the started tasks"
	case baseTable:
		return "the base"
	case restTable:
		return "the state without contracts"
	}
	return "a checkpoint"
}

// made returns the parameters with which the market was created. A script is read from the
// folder that contains the log.
func (l *log) made() (*made, Config, error) {
	var as made
	if there, err := l.get([]byte{madeTable}, &as); err != nil || !there {
		return nil, Config{}, cmp.Or(err, errNoMarket)
	}
	conf, err := Parse(filepath.Join(filepath.Dir(l.dir), "the market's file"), []byte(as.Config))
	return &as, conf, err
}

// A history is a log open for reading, and the core as it was before the first record.
type history struct {
	*log
	as   *made
	conf Config
	core *core
	from int64 // number of the record before the first one to be read
}

// readHistory opens the log in dir for reading. The market must not be running. The caller
// must close its database.
func readHistory(dir string, fs vfs.FS) (h *history, err error) {
	h = new(history)
	if h.log, err = openLog(dir, fs, true, nil); err != nil {
		return nil, err
	}
	if h.as, h.conf, err = h.made(); err == nil {
		h.core, h.from, err = h.begun(h.as, &h.conf)
	}
	if err != nil {
		h.db.Close()
		return nil, err
	}
	return h, nil
}

// core returns the market's initial core, without access to its bank.
func (was *made) core(c *Config) (*core, error) {
	return newCore(c, was.Ledger, was.Number, teller.New(context.Background(), teller.Config{Ledger: was.Ledger, Market: c.Name}))
}

// begun returns a core and the number of the last record that the core includes. The core is
// in its state at the beginning of the log or, after an upgrade, at the first record that this
// version wrote.
func (l *log) begun(as *made, c *Config) (k *core, from int64, err error) {
	defer damaged(&err, "the first checkpoint")
	fresh := func() (*core, error) { return as.core(c) }
	if k, err = fresh(); err != nil {
		return nil, 0, err
	}
	since, err := l.upgraded()
	if l.first > 1 {
		since = max(since, l.first-1)
		if err == nil && !l.has(baseTable, l.first) && !l.has(checkpointTable, l.first-1) {
			return nil, 0, fmt.Errorf("found record %d, want record 1, or a checkpoint that includes the earlier records", l.first)
		}
	}
	if err == nil && since > 0 {
		from, err = l.recall(k, fresh, since)
	}
	return k, from, err
}

// has reports whether a table contains a value for record n.
func (l *log) has(table byte, n int64) bool {
	for seq := range l.each(table, n, new(error)) {
		return seq == n
	}
	return false
}

// upgraded returns the number of the last record that another version wrote, or 0 if this
// version wrote every record.
func (l *log) upgraded() (seq int64, err error) {
	for n := range l.back(begunAgainTable, &err) {
		return n, err
	}
	return 0, err
}

// errNoMarket means that a log does not belong to a market.
var errNoMarket = errors.New("found no market")

// A turned is the result of repeating one logged step on a core.
type turned struct {
	seq     int64
	record  *record
	outcome outcome // outcome in the log
	known   bool    // whether the log contains an outcome
	done    bool    // whether the market has executed the step
	results []result
	err     error // non-nil if the result differs or the step could not be repeated
}

// damaged turns a panic into an error, because a value of the log that no market wrote can
// violate conditions on which the core relies.
func damaged(err *error, what string) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%s is damaged or was changed, because it leads to: %v", what, p)
	}
}

// repeat executes a logged step again.
func (k *core) repeat(r *record) (out []result, err error) {
	defer damaged(&err, "it")
	if err := k.possible(r); err != nil {
		return nil, fmt.Errorf("it is damaged or was changed: %w", err)
	}
	return k.turn(r)
}

// possible returns an error if the market cannot have logged r, because it checks messages
// first.
func (k *core) possible(r *record) error {
	if !(r.Now >= k.now) || math.IsInf(r.Now, 1) {
		return fmt.Errorf("found time %v, want at least %v", r.Now, k.now)
	}
	for i := range r.Messages {
		if err := k.possibleMessage(&r.Messages[i]); err != nil {
			return fmt.Errorf("message %d: %w", i+1, err)
		}
	}
	return nil
}

func (k *core) possibleMessage(m *message) (err error) {
	fields, v := 0, reflect.ValueOf(m).Elem()
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			fields++
		}
	}
	if fields != 1 {
		return fmt.Errorf("found %d inputs, want 1", fields)
	}
	name := m.Came + m.Gone
	switch {
	case m.Report != nil:
		name = m.Report.Host
		_, err = newReport(name, &m.Report.Told)
	case m.Reach != nil:
		name = m.Reach.Host
	case m.Join != nil:
		err = m.Join.possible()
	case m.Saved != nil && !(math.Abs(m.Saved.Used) <= mostTime):
		err = fmt.Errorf("found a checkpoint after %v s, want at most %.0f", m.Saved.Used, mostTime)
	case m.Orphan != nil && m.Orphan.Contract>>perMarket != k.number:
		err = fmt.Errorf("found contract %d, want one of market %d", m.Orphan.Contract, k.number)
	case m.order() != "":
		err = k.possibleOrder(m)
	}
	if h, _ := k.host(name); err == nil && name != "" && h == nil {
		err = fmt.Errorf("%w: %s", ErrNoHost, name)
	}
	return err
}

func (k *core) possibleOrder(m *message) error {
	s, err := bankorder.Open([]byte(m.order()))
	if err != nil {
		return err
	}
	want := [...]string{map[bool]string{m.Submit != nil: "order", m.Cancel != "": "cancel", m.Bid != "": "bid"}[true], k.ledger, k.conf.Name}
	if found := [...]string{s.Kind, s.Value("ledger"), s.Value("market")}; found != want {
		return fmt.Errorf("found an order with kind, ledger and market %v, want %v", found, want)
	}
	if len(s.Rest) > 0 {
		return fmt.Errorf("found %.40q behind the signature", s.Rest)
	}
	if m.Submit == nil {
		return nil
	}
	if !(m.Submit.Memory >= 0) {
		return fmt.Errorf("found %v bytes of memory, want at least 0", m.Submit.Memory)
	}
	terms, err := order.Parse(s.Order)
	if err == nil && order.Sum([]byte(m.Submit.Job)) != terms.Job {
		err = fmt.Errorf("found a job with the hash %s, want %s", order.Sum([]byte(m.Submit.Job)), terms.Job)
	}
	return err
}

// possible returns an error if no host can have joined like this.
func (j *join) possible() error {
	s := j.Spec
	sizes := []float64{s.CPUs, s.Speed, s.Cap, s.Room.Memory, s.Room.Disk, s.Room.Bandwidth, float64(s.Room.Cores)}
	for _, n := range s.Room.Counts {
		sizes = append(sizes, float64(n))
	}
	if s.Name == "" || j.Owner == "" || !(s.CPUs > 0 && s.Speed > 0) || slices.Min(sizes) < 0 || math.IsInf(slices.Max(sizes), 1) || s.Floor != (hosts.Floor{}) {
		return fmt.Errorf("found host %+v of %q, want a name, an owner, processors, other amounts of at least 0 and no floor prices, which are in the market's file", s, j.Owner)
	}
	return nil
}

// retold repeats the records from number n on, using the core k, and yields each result. It
// stores read errors in err.
func (l *log) retold(k *core, n int64, err *error) iter.Seq[*turned] {
	return func(yield func(*turned) bool) {
		for seq, r := range l.records(n, err) {
			t := &turned{seq: seq, record: r}
			var e error
			if t.known, e = l.get(key(outcomeTable, seq), &t.outcome); e != nil {
				*err = fmt.Errorf("outcome %d: %w", seq, e)
				return
			}
			t.done = t.known || seq < l.seq || l.has(begunTable, seq) || l.has(checkpointTable, seq)
			if t.done {
				k.calls.known, k.calls.again = t.outcome.Calls, true
				t.results, e = k.repeat(t.record)
				if e == nil {
					e = same(&t.outcome, k.outcome(t.results))
				}
				if e == nil {
					e = l.sameTasks(seq, k.begun)
				}
				if e != nil {
					t.err = fmt.Errorf("record %d: %w", seq, e)
				}
			}
			if !yield(t) {
				return
			}
		}
	}
}

// booksAs maps the kind of a call to the kind of the resulting ledger entry.
var booksAs = map[string]string{"hold": "admit", "adjust": "adjust", "settle": "settle", "return": "settle", "penalty": "penalty", "reject": "reject"}

// entryID identifies the entry of a kind for a contract. There is at most one such entry,
// except that each order of kind bid has its own.
func entryID(kind string, contract int64, order string) string {
	return strings.TrimSuffix(fmt.Sprintf("%s %d %s", kind, contract, order), " ")
}

// booked reports whether the bank has booked an entry for c.
func (c *call) booked() bool {
	switch c.Kind {
	case "penalty":
		return c.Moved.Sign() > 0
	case "reject":
		return c.Receipt != ""
	}
	return c.Has == nil && c.Refused == ""
}

// said returns the note that the ledger entry for c contains.
func (c *call) said() []byte {
	if short, err := c.Amount.Sub(c.Moved); c.Kind == "penalty" && err == nil && short.Sign() > 0 {
		return teller.Short([]byte(c.Note), short)
	}
	return []byte(c.Note)
}

// compare compares the entries of a ledger with the calls in the log.
func (out *Checked) compare(entries iter.Seq[*bank.Entry]) {
	differs := func(format string, args ...any) {
		out.Differences = append(out.Differences, fmt.Sprintf(format, args...))
	}
	for e := range entries {
		if e.Contract < 0 || e.Contract>>perMarket != out.number || e.Kind == bank.Owner {
			continue
		}
		id := entryID(e.Kind.String(), e.Contract, "")
		if e.Kind == bank.Adjust {
			id = entryID(e.Kind.String(), e.Contract, e.ID)
		}
		c := out.calls[id]
		delete(out.calls, id)
		switch {
		case c == nil && !out.open && !out.orphans[e.Contract] && !out.past(e):
			differs("entry %d: %s: the log contains no such call", e.Seq, id)
		case c != nil && !bytes.HasPrefix(e.Note, []byte(c.order)):
			differs("entry %d: %s has another order than the log", e.Seq, id)
		case c != nil && c.Receipt != "" && !strings.HasPrefix(c.Receipt, fmt.Sprint(e.Seq, ":")):
			differs("entry %d: %s, but the log contains the receipt %s", e.Seq, id, c.Receipt)
		case c != nil && (!bytes.HasSuffix(e.Note, c.said()) || moved(e.Moves) != c.moved()):
			differs("entry %d: %s moves %s with note %s, but the log contains %s with note %s", e.Seq, id, moved(e.Moves), e.Note, c.moved(), c.Note)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(out.calls)) {
		differs("the ledger contains no %s, %s", id, out.calls[id].Receipt)
	}
}

// past reports whether e is older than the first record of the log.
func (out *Checked) past(e *bank.Entry) bool {
	if e.Contract >= out.next {
		return false
	}
	return e.Kind == bank.Admit || e.Kind == bank.Adjust || !slices.Contains(out.before, e.Contract)
}

// moved returns the money transfers of an entry as text, in order.
func moved(moves []bank.Move) (s string) {
	for _, m := range moves {
		s += fmt.Sprintf("%v to %s, ", m.Amount, m.To)
	}
	return s
}

// moved returns the money transfers for c as text, according to the log.
func (c *call) moved() (s string) {
	switch c.Kind {
	case "hold":
		return fmt.Sprintf("%v to %s, ", c.Amount, bank.EscrowName(c.Contract))
	case "adjust":
		if more, _ := c.Amount.Sub(c.was); more.Sign() > 0 {
			return fmt.Sprintf("%v to %s, ", more, bank.EscrowName(c.Contract))
		}
		if less, _ := c.was.Sub(c.Amount); less.Sign() > 0 {
			return fmt.Sprintf("%v to %s, ", less, c.Who)
		}
	case "return":
		return fmt.Sprintf("%v to %s, ", c.Amount, c.Who)
	case "penalty":
		return fmt.Sprintf("%v to %s, ", c.Moved, c.Who)
	case "settle":
		for _, p := range c.Pay {
			if p.Amount.Sign() > 0 {
				s += fmt.Sprintf("%v to %s, ", p.Amount, p.To)
			}
		}
		if c.Moved.Sign() > 0 {
			s += fmt.Sprintf("%v to %s, ", c.Moved, c.Who)
		}
	}
	return s
}

// sameTasks compares the tasks that a step started with the tasks in the log. It returns an
// error that describes the difference. If the log contains no such tasks, it returns nil.
func (l *log) sameTasks(seq int64, is []begun) error {
	var was []begun
	there, err := l.get(key(begunTable, seq), &was)
	if err != nil || !there || slices.Equal(was, is) {
		return err
	}
	return fmt.Errorf("%w: this version starts the tasks %+v, but the log contains %+v", errOtherwise, is, was)
}
