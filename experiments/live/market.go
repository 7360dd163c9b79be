// Package live implements the market in real time. A loop owns a broker and processes
// messages. A log lets the loop resume even if the process is killed at any time. Users and
// hosts send requests by calling the methods of [Market].
//
// The package is independent of how hosts enforce shares and how messages are transported.
//
// # A turn
//
// In each step, the loop reads the messages that have arrived, and the time. It logs both as a
// record and passes them to the broker. The broker calls the bank if necessary. The loop then
// logs the results as an outcome, and finally replies. The market's state is a function of its
// records and the bank's answers. The bank gives the same answer to a repeated request. To
// restore a killed market, the program therefore passes the same records to a new broker. If a
// record has an outcome, the program compares the new result with the outcome and does not
// call the bank. Only the last record may have no outcome.
//
//	killed                  effect
//	before the record       no client was answered; a repeated request is new
//	record to outcome       the step is repeated; the bank answers as before and books nothing twice
//	after the outcome       a repeated request receives the stored answer
//
// An order is decided only once. Its account and its id identify the order before it becomes a
// message.
package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"bourse/bank"
	"bourse/bank/service"
	"bourse/bank/teller"
	"bourse/contracts"
	"bourse/experiments/des"
	"bourse/hosts/remote"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A World contains the dependencies of a market.
type World struct {
	Bank   service.Ledger
	Ledger string // id of the bank's ledger
	Number int64  // number of the market, as in the bank's grant of the right to settle contracts
	Key    string // private key of account market:NAME
	Clock  Clock

	// KeyOf returns the public key of an account, empty if it has none.
	KeyOf func(ctx context.Context, account string) (string, error)

	// Payee reports whether the bank allows this market to pay an account. If it is nil,
	// every account may be paid.
	Payee func(ctx context.Context, account string) (bool, error)

	// Reads reports whether an account may read the bank's whole ledger and therefore all
	// contracts. If it is nil, only the operator may.
	Reads func(ctx context.Context, account string) (bool, error)

	FS vfs.FS // file system of the log; nil means the disk

	// Fatal is called if the log can no longer be written. Fatal must end the process. If
	// Fatal is nil, the program prints the reason in one sentence and exits with status 1.
	Fatal func(error)

	Meter Meter // receives the measurements; may be nil

	// Failed is called with the error if the policy's script has failed and the market has
	// therefore rejected a request. It may be nil.
	Failed func(error)

	// Version is the version of this program. If another version wrote the log, the market
	// resumes from that version's checkpoint, and checks of the log start there.
	Version string
}

// A made holds the parameters with which a market was created. They never change.
type made struct {
	Config string `json:"config"`
	Ledger string `json:"ledger"`
	Number int64  `json:"number"`
}

// agrees returns an error if the market in dir was created with different parameters.
func (was *made) agrees(dir string, as *made) error {
	a, err := Parse(dir, []byte(was.Config))
	if err != nil {
		return err
	}
	b, err := Parse(dir, []byte(as.Config))
	if err != nil {
		return err
	}
	const but = "market %s was created with %s %v, but its file now has %v; decisions depend on this field, so restore the value or create another market"
	if d := a.differs(b); d != nil {
		return fmt.Errorf(but, dir, d.Field, d.One, d.Other)
	}
	if was.Ledger != as.Ledger {
		return fmt.Errorf(but, dir, "ledger", was.Ledger, as.Ledger)
	}
	if was.Number != as.Number {
		return fmt.Errorf(but, dir, "number", was.Number, as.Number)
	}
	return nil
}

// A Market is a live market. Its methods may be called concurrently.
type Market struct {
	conf  Config
	world World
	dir   string
	log   *log
	mail  mail
	ctx   context.Context // context for calls to the bank
	stop  context.CancelFunc

	turning chan struct{} // contains one element during a step
	quoting chan struct{} // contains one element during a quote
	mu      sync.RWMutex  // guards the fields below; not held during calls to the bank
	core    *core
	seen    seen
	saved   saved
	writing chan written // receives the result of the checkpoint in progress; nil if there is none
	pruned  func() error // waits for the removals in progress
	whole   bool         // whether no step is in progress
	undone  bool         // whether the last record had no outcome when the log was opened

	every int64                 // maximum number of records between two checkpoints
	pause float64               // maximum number of seconds between two checkpoints
	step  func(at string) error // called at named points so that tests can kill the market; nil in production
}

// ErrStopped means that the market is no longer running.
var ErrStopped = errors.New("the market has stopped")

// Open opens the market in dir and resumes it. It creates the market if necessary.
func Open(dir string, c Config, w World) (*Market, error) {
	l, err := openLog(dir, w.FS, false, w.Fatal)
	if err != nil {
		return nil, err
	}
	if w.Meter == nil {
		w.Meter = unmetered{}
	}
	m := &Market{conf: c, world: w, dir: dir, log: l, mail: newMail(), turning: make(chan struct{}, 1), quoting: make(chan struct{}, 1), every: perRecords, pause: perSeconds, pruned: func() error { return nil }}
	m.ctx, m.stop = context.WithCancel(context.Background())
	if err := m.open(); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

func (m *Market) open() error {
	as := made{string(m.conf.text), m.world.Ledger, m.world.Number}
	var was made
	there, err := m.log.get([]byte{madeTable}, &was)
	if err == nil && there {
		err = was.agrees(m.dir, &as)
	}
	switch {
	case err != nil:
		return err
	case !there:
		if err := m.log.set(map[string]any{string(madeTable): as}); err != nil {
			return err
		}
	}
	if m.core, err = m.fresh(); err != nil {
		return err
	}
	held, err := m.recover()
	if err == nil {
		err = m.upgrade()
	}
	if err != nil {
		return err
	}
	m.world.Clock.Reach(m.core.now) // the clock must not be behind the log, even if the wall clock was set back
	m.core.calls.free = func(f func()) {
		m.mu.Unlock()
		defer m.mu.Lock()
		begun := m.world.Clock.Now()
		m.seen.ask(begun)
		f()
		m.seen.ask(0)
		m.world.Meter.BankCall(m.world.Clock.Now() - begun)
	}
	m.saved.at = m.world.Clock.Now()
	m.seen.init(m)
	m.whole = true
	return m.agree(held)
}

// fresh returns the market's initial core.
func (m *Market) fresh() (*core, error) {
	t := teller.New(m.ctx, teller.Config{Bank: m.world.Bank, Ledger: m.world.Ledger, Market: m.conf.Name, Key: m.world.Key, Order: m.orderOf})
	return newCore(&m.conf, m.world.Ledger, m.world.Number, t)
}

func (m *Market) orderOf(contract int64) []byte { return m.core.orderOf(contract) }

// recover restores the core from the last checkpoint and the records after it. It returns the
// bank's escrows of contracts.
func (m *Market) recover() (held map[int64]*orphan, err error) {
	from, err := m.load()
	if err == nil {
		err = m.retell(from)
	}
	if err == nil {
		held, err = m.held()
	}
	if errors.Is(err, errOtherwise) || errors.Is(err, errFormat) {
		err = fmt.Errorf("%w: start and stop the version that wrote the log, so that a checkpoint is written. If this version cannot read the checkpoint, stop the old version while no contract is open", err)
	}
	return held, err
}

// upgrade starts a new log if another version wrote the old one, because only that version can
// check its own records.
func (m *Market) upgrade() error {
	var wrote string
	version := recordFormat + " " + m.world.Version
	if _, err := m.log.get([]byte{versionTable}, &wrote); err != nil || wrote == version {
		return err
	}
	values := map[string]any{string(versionTable): version}
	if m.log.seq > 0 {
		if err := m.save(); err != nil {
			return err
		}
		b := m.core.base(m.log.seq)
		if !m.saved.base(b.Seq) {
			m.saved.bases = append(m.saved.bases, b)
		}
		values[string(key(baseTable, b.Seq))], values[string(key(begunAgainTable, b.Seq))] = b, true
	}
	return m.log.set(values)
}

// retell repeats the records after number from on the core.
func (m *Market) retell(from int64) (err error) {
	for seq, r := range m.log.records(from+1, &err) {
		var o outcome
		known, err := m.log.get(key(outcomeTable, seq), &o)
		if err != nil {
			return fmt.Errorf("outcome %d: %w", seq, err)
		}
		m.core.calls.known, m.core.calls.again = o.Calls, known || seq < m.log.seq
		results, err := m.core.repeat(r)
		switch {
		case err == nil && m.core.calls.again:
			if err = same(&o, m.core.outcome(results)); err == nil {
				err = m.log.sameTasks(seq, m.core.begun)
			}
		case err == nil:
			m.undone, err = true, m.conclude(seq, r, results)
		}
		if err != nil {
			return fmt.Errorf("record %d: %w", seq, err)
		}
	}
	m.core.calls.again = false
	return err
}

// outcome returns the results of a step in the form of the log.
func (k *core) outcome(results []result) *outcome {
	o := &outcome{Calls: k.calls.made}
	for i := range results {
		if a := results[i].answer; a != nil {
			o.Answers = append(o.Answers, *a)
		}
	}
	return o
}

// same compares the new outcome of a step with the logged outcome and describes the
// difference.
func same(was, is *outcome) error {
	a, err := encode(was)
	if err != nil {
		return err
	}
	b, err := encode(is)
	if err != nil || bytes.Equal(a, b) {
		return err
	}
	return fmt.Errorf("%w: the result of this version is %s, but the log contains %s", errOtherwise, b, a)
}

// written returns the values that a step adds to the log after its record, by key.
func (k *core) written(seq int64, r *record, results []result) map[string]any {
	values := make(map[string]any)
	for _, c := range k.ended {
		values[string(key(contractTable, c.ID))] = c
	}
	for i := range results {
		if a := results[i].answer; a != nil && a.kept {
			account, id, sum := orderID(r.Messages[i].order())
			values[answerKey(account, id)] = answered{sum, *a}
		}
	}
	if o := k.outcome(results); len(o.Calls)+len(o.Answers) > 0 {
		values[string(key(outcomeTable, seq))] = o
	}
	if len(k.begun) > 0 {
		values[string(key(begunTable, seq))] = k.begun
	}
	return values
}

// conclude logs the results of a step.
func (m *Market) conclude(seq int64, r *record, results []result) error {
	values := m.core.written(seq, r, results)
	if len(values) == 0 {
		return nil
	}
	return m.timed(m.world.Meter.LogSync, func() error { return m.log.set(values) })
}

// escrows returns the escrows at the bank for contracts of this market, keyed by contract.
func (m *Market) escrows() (map[int64]*orphan, error) {
	all, err := m.world.Bank.Escrows(m.ctx)
	if err != nil {
		return nil, fmt.Errorf("open escrows: %w", err)
	}
	held := make(map[int64]*orphan)
	for _, e := range all {
		if n, err := bank.EscrowContract(e.Name); err == nil && n>>perMarket == m.world.Number {
			held[n] = &orphan{n, e.Owner, e.Balance}
		}
	}
	return held, nil
}

// held returns the escrows of contracts at the bank. It returns an error if an escrow is
// missing. If the last record is incomplete, another version may already have completed its
// step.
func (m *Market) held() (map[int64]*orphan, error) {
	held, err := m.escrows()
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(m.core.open)) {
		phase, open := m.core.broker.Phase(contracts.ID(id))
		if !open && !m.core.waits(id, "settle") {
			continue // only the penalty of this contract is unpaid
		}
		if phase != contracts.Asked && held[id] == nil {
			err := fmt.Errorf("contract %d is %v, but the bank has no escrow for it; the ledger is a different one, or was restored from an older backup", id, phase)
			if m.undone {
				err = fmt.Errorf("%w, or %w", err, errOtherwise)
			}
			return nil, err
		}
	}
	return held, nil
}

// agree refunds the escrows in held that belong to unknown contracts.
func (m *Market) agree(held map[int64]*orphan) error {
	var letters []*letter
	for _, id := range slices.Sorted(maps.Keys(held)) {
		if m.core.open[id] == nil && !m.core.waits(id, "return") {
			letters = append(letters, newLetter(message{Orphan: held[id]}))
		}
	}
	if len(letters) == 0 {
		return nil
	}
	return m.turn(m.world.Clock.Now(), letters)
}

// Run is the loop. Run returns when ctx is done or when the market cannot continue.
func (m *Market) Run(ctx context.Context) error {
	defer m.mail.close()
	defer context.AfterFunc(ctx, m.stop)()
	wait := des.Wall{Now: m.world.Clock.Now, Wake: m.mail.bell}
	last := math.Inf(-1)
	for {
		m.mu.RLock()
		next := min(m.core.due(), m.seen.check)
		m.mu.RUnlock()
		now := m.world.Clock.Now()
		switch waits, readings := m.mail.waiting(); {
		case readings && now < last+pace:
			next = min(next, last+pace)
		case waits:
			next = now
		}
		if next > now {
			var err error
			if now, err = wait.Wait(ctx, next); err != nil {
				return nil
			}
		}
		if waits, readings := m.mail.waiting(); readings && now < last+pace || !waits && now < next {
			continue
		}
		last = now
		if err := m.turn(now, m.mail.take()); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// pace is the minimum time between two steps that process only host reports, in seconds.
const pace = 0.05

// turn executes one step with the messages in letters.
func (m *Market) turn(now float64, letters []*letter) (err error) {
	m.turning <- struct{}{}
	defer func() { <-m.turning }()
	m.mu.Lock()
	defer m.mu.Unlock()
	all, begun := letters, m.world.Clock.Now()
	defer func() {
		for _, l := range all {
			l.answer(result{err: ErrStopped}) // letters that were already answered ignore this answer
		}
	}()
	now = max(now, m.core.now)
	letters, follow, err := m.known(letters)
	if err != nil {
		return err
	}
	for _, l := range letters {
		if l.Submit != nil {
			if err := m.states(l.Submit); err != nil {
				return err
			}
		}
	}
	letters = append(m.back(letters), m.seen.silent(m.world.Clock.Now(), m)...)
	r := &record{Now: now}
	for _, l := range letters {
		r.Messages = append(r.Messages, l.message)
	}
	if len(letters) == 0 && m.core.due() > now {
		return nil
	}
	if err := m.at("record"); err != nil {
		return err
	}
	m.whole = false
	if err := m.timed(m.world.Meter.LogSync, func() error { return m.log.add(r) }); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	if err := m.at("apply"); err != nil {
		return err
	}
	m.core.failed = nil
	results, err := m.core.turn(r)
	if err != nil {
		return fmt.Errorf("record %d: %w", m.log.seq, err)
	}
	if err := m.at("outcome"); err != nil {
		return err
	}
	if err := m.conclude(m.log.seq, r, results); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	if err := m.at("answer"); err != nil {
		return err
	}
	m.decided(r, results)
	if m.core.failed != nil && m.world.Failed != nil {
		m.world.Failed(m.core.failed)
	}
	m.unpaid(r)
	m.seen.publish(m, now)
	for i, l := range letters {
		l.answer(results[i])
	}
	for i, l := range follow {
		l.answer(results[slices.Index(letters, follow[i].first)])
	}
	m.whole = true
	m.world.Meter.Turn(m.world.Clock.Now() - begun)
	return m.keep(now)
}

// back inserts messages before the reports of hosts. The inserted messages state that a lost
// host is back, that the address or the ports of a host have changed, or that a host accepts
// tasks or leaves.
func (m *Market) back(letters []*letter) (out []*letter) {
	for _, l := range letters {
		out = append(out, l)
		if l.Report == nil {
			continue
		}
		name := l.Report.Host
		h, _ := m.core.host(name)
		p := m.seen.of(name)
		if h == nil || p == nil || h.removed || !p.listens(l.Report.Session, l.Report.Boot, l.Report.After) {
			continue
		}
		if !p.here {
			out = slices.Insert(out, len(out)-1, newLetter(message{Came: name}))
		}
		if !p.reaches(name, &p.told.Offer) {
			r := reachOf(name, &p.told.Offer)
			out = slices.Insert(out, len(out)-1, newLetter(message{Reach: &r}))
		}
		if t := &p.told; t.Leaving == remote.AtOnce {
			out = append(out, newLetter(message{Remove: name}))
		} else if p.wants(t) {
			out = append(out, newLetter(message{Shut: &shutting{Host: name, Shut: !h.closed}}))
		}
	}
	return out
}

// at calls the function of a test that can kill the market, at the named point.
func (m *Market) at(what string) error {
	if m.step == nil {
		return nil
	}
	return m.step(what)
}

// known replies to the orders among letters that the market has already answered. It returns
// the new letters (fresh), and those that repeat another letter of the same step (follow).
func (m *Market) known(letters []*letter) (fresh, follow []*letter, err error) {
	first := make(map[string]*letter)
	for _, l := range letters {
		text := l.order()
		if text == "" {
			fresh = append(fresh, l)
			continue
		}
		account, id, sum := orderID(text)
		var was answered
		there, err := m.log.get([]byte(answerKey(account, id)), &was)
		if err != nil {
			return nil, nil, err
		}
		same := first[account+"/"+id]
		switch {
		case there && was.Sum == sum:
			l.answer(result{answer: &was.Answer})
		case there, same != nil && same.order() != text:
			l.answer(result{err: fmt.Errorf("%w: %s of %s", ErrUsed, id, account)})
		case same != nil:
			l.first = same
			follow = append(follow, l)
		default:
			first[account+"/"+id] = l
			fresh = append(fresh, l)
		}
	}
	return fresh, follow, nil
}

// ErrUsed means that the id of an order was already used for another order.
var ErrUsed = errors.New("the id was used for another order")

// Close closes the log. It first writes a checkpoint, unless there was an error. Run must have
// returned.
func (m *Market) Close() (err error) {
	m.stop()
	m.mail.close()
	if err = m.finish(); err == nil && m.whole && m.log.seq > m.saved.seq {
		err = m.save()
	}
	return errors.Join(err, m.pruned(), m.log.db.Close())
}
