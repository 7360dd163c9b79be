package live

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"bourse/bank"
	"bourse/bank/teller"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A Checked is the state and result of the check of a log.
type Checked struct {
	Records     int64    `json:"records" doc:"number of the last record"`
	First       int64    `json:"first" doc:"number of the first record; earlier records were deleted or belong to another version"`
	Contracts   int      `json:"contracts" doc:"number of contracts that have ended"`
	Calls       int      `json:"calls" doc:"bank calls: admissions, rejections, settlements and penalties"`
	Differences []string `json:"differences"`
	Unsettled   []string `json:"unsettled,omitempty" doc:"contracts that were not settled at the end of the log because the bank refused, with the bank's reasons"`

	number  int64            // number of the market
	next    int64            // lowest contract number that the first record may create
	before  []int64          // contracts that were open before the first record
	orphans map[int64]bool   // unknown contracts whose escrow was refunded
	open    bool             // whether the last record has no outcome and may be incomplete
	calls   map[string]*call // entries booked according to the log, by kind and contract
	budgets map[int64]bank.Amount
}

// Check passes the records of the log in dir to a new broker and compares the results with the
// log, byte by byte: each decision, placement, charge and settlement. It does not call the
// bank. If entries is not nil, it must contain all entries of the bank's ledger. Check then
// reports entries of this market that are missing from the ledger, missing from the log, or
// different. Check stops at the first record whose result differs.
func Check(dir string, fs vfs.FS, entries iter.Seq[*bank.Entry]) (*Checked, error) {
	l, err := openLog(dir, fs, true, nil)
	if err != nil {
		return nil, err
	}
	out := &Checked{Differences: []string{}, calls: make(map[string]*call), orphans: make(map[int64]bool), budgets: make(map[int64]bank.Amount)}
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
	out.number = as.Number
	k, from, err := l.begun(as, &conf)
	if err != nil {
		return err
	}
	if from > 0 {
		out.next, out.before = as.Number<<perMarket+k.next, slices.Collect(maps.Keys(k.open))
		for id, c := range k.open {
			out.budgets[id] = c.Budget
		}
	}
	out.First, out.Records = from+1, from
	for _, table := range []byte{checkpointTable, outcomeTable} {
		for seq := range l.back(table, &err) {
			if seq > l.seq {
				return fmt.Errorf("found %d as the last record, want record %d, which is missing", l.seq, seq)
			}
			break
		}
	}
	for t := range l.retold(k, from+1, &err) {
		if !t.known && t.seq == l.seq {
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
			if c.Kind == "settle" {
				if at := slices.IndexFunc(k.ended, func(e *Contract) bool { return e.ID == c.Contract }); at >= 0 {
					c.Who = k.ended[at].payer()
				} else if open := k.open[c.Contract]; open != nil { // the bank refused the penalty
					c.Who = open.payer()
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
		for _, c := range k.ended {
			if err := out.contract(l, t.seq, c); err != nil {
				return err
			}
		}
	}
	for i := range k.unsettled {
		out.Unsettled = append(out.Unsettled, k.unsettled[i].String())
	}
	return err
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
	return newCore(c, was.Ledger, was.Number, teller.New(context.Background(), teller.Config{}))
}

// begun returns a core and the number of the last record that the core includes. The core is
// in its state at the beginning of the log or, after an upgrade, at the first record that this
// version wrote.
func (l *log) begun(as *made, c *Config) (k *core, from int64, err error) {
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
	known   bool    // there was one
	err     error   // non-nil if the result differs or the step could not be repeated
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
			if t.known || seq < l.seq {
				k.calls.known, k.calls.again = t.outcome.Calls, true
				results, e := k.turn(t.record)
				if e == nil {
					e = same(&t.outcome, k.outcome(results))
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

// contract compares the outcome of a contract with the log.
func (out *Checked) contract(l *log, seq int64, c *Contract) error {
	var was json.RawMessage
	if _, err := l.get(key(contractTable, c.ID), &was); err != nil {
		return err
	}
	if !bytes.Contains(was, []byte(`,"served":{`)) { // an earlier version wrote the entry
		old := *c
		old.Served, c = nil, &old
	}
	if !bytes.Contains(was, []byte(`,"settled":`)) { // also
		old := *c
		old.Settled, c = 0, &old
	}
	is, err := encode(c)
	if err != nil {
		return err
	}
	if string(was) != string(is) {
		out.Differences = append(out.Differences, fmt.Sprintf("record %d: contract %d becomes %s, but is %s in the log", seq, c.ID, is, was))
	}
	return nil
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

// said returns the note in the ledger entry for c.
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
