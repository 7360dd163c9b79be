// Package live is the market on real time: one loop that owns a broker, to which all that
// is said is a message; its log, from which it goes on after it was killed at any instant;
// and what users and hosts ask of it.
//
// It does not know how shares are enforced, nor how messages travel.
//
// # A turn
//
// The loop takes what has come, and the instant. It logs both (record), tells the broker,
// which asks the bank where it has to, logs what came of it (outcome), and only then
// answers. The market is a function of its records and of what the bank answers, and the
// bank answers the same when it is asked again; so a market that is killed is made anew by
// telling a new broker the same records: those that have an outcome are not asked of the
// bank again but held against it, and only the last may have none.
//
//	killed                  afterwards
//	before the record       nobody was answered: who asks again is one who asks
//	record to outcome       told again; the bank answers as before, nothing is booked twice
//	after the outcome       who asks again gets the answer that is kept
//
// An order is answered once for ever: by its account and id, before it becomes a message.
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

// A World is what a market is put into.
type World struct {
	Bank   service.Ledger
	Ledger string // its id
	Number int64  // of the market, as its right to settle has it
	Key    string // private, of account market:NAME
	Clock  Clock

	// KeyOf returns the public key of an account, empty if it has none.
	KeyOf func(ctx context.Context, account string) (string, error)

	// Payee reports whether the bank pays an account for this market; nil: it pays every one.
	Payee func(ctx context.Context, account string) (bool, error)

	FS vfs.FS // where the log is; nil is the disk

	// Fatal is told why the log cannot be written any more, and ends the process; nil prints
	// that in one sentence and exits with status 1.
	Fatal func(error)

	Meter Meter // is told what is measured; nil is nobody

	// Version is that of this program. If another version wrote the log, the market goes on from
	// its checkpoint, and the log begins again there for checks.
	Version string
}

// made is what a market was made as: nothing of it changes.
type made struct {
	Config string `json:"config"`
	Ledger string `json:"ledger"`
	Number int64  `json:"number"`
}

// agrees returns an error if a market in dir cannot be opened as another.
func (was *made) agrees(dir string, as *made) error {
	a, err := Parse(dir, []byte(was.Config))
	if err != nil {
		return err
	}
	b, err := Parse(dir, []byte(as.Config))
	if err != nil {
		return err
	}
	const but = "market %s was made with %s %v, and is now to have %v: what decides stays as it was, or make another market"
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

// A Market is one market. Its methods may be called at once.
type Market struct {
	conf  Config
	world World
	dir   string
	log   *log
	mail  mail
	ctx   context.Context // of the calls of the bank
	stop  context.CancelFunc

	turning chan struct{} // holds one while a turn is under way
	quoting chan struct{} // holds one while somebody is quoted
	mu      sync.RWMutex  // of what follows; not held while the bank is asked
	core    *core
	seen    seen
	saved   saved
	pruned  func() error // waits for what is being removed
	whole   bool         // no turn is half done
	undone  bool         // the last record was not done, when it was opened

	every int64                 // records between two checkpoints
	pause float64               // seconds between them
	step  func(at string) error // nil; a test kills the market by it
}

// ErrStopped means that the market runs no more.
var ErrStopped = errors.New("the market has stopped")

// Open opens the market in dir, which is made if need be, and goes on where it was.
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
	m.world.Clock.Reach(m.core.now) // though the wall clock was set back while it was down
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

// fresh returns the core of a market in which nothing has happened.
func (m *Market) fresh() (*core, error) {
	t := teller.New(m.ctx, teller.Config{Bank: m.world.Bank, Ledger: m.world.Ledger, Market: m.conf.Name, Key: m.world.Key, Order: m.orderOf})
	return newCore(&m.conf, m.world.Ledger, m.world.Number, t)
}

func (m *Market) orderOf(contract int64) []byte { return m.core.orderOf(contract) }

// recover makes the core what it was: by the last checkpoint, and what was logged since. It
// returns what the bank holds for contracts.
func (m *Market) recover() (held map[int64]*orphan, err error) {
	from, err := m.load()
	if err == nil {
		err = m.retell(from)
	}
	if err == nil {
		held, err = m.held()
	}
	if errors.Is(err, errOtherwise) || errors.Is(err, errFormat) {
		err = fmt.Errorf("%w: start the version that wrote it, and stop it, which writes a checkpoint that this one goes on from; if it cannot read that, stop the other while no contract is open", err)
	}
	return held, err
}

// upgrade begins the log again if another version wrote it: its records are for that version
// to check.
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
		b := base{m.log.seq, m.core.now, m.core.number<<perMarket + m.core.next}
		if !m.saved.base(b.Seq) {
			m.saved.bases = append(m.saved.bases, b)
		}
		values[string(key(baseTable, b.Seq))], values[string(key(begunAgainTable, b.Seq))] = b, true
	}
	return m.log.set(values)
}

// retell tells the core what was logged after record from.
func (m *Market) retell(from int64) (err error) {
	for seq, r := range m.log.records(from+1, &err) {
		var o outcome
		known, err := m.log.get(key(outcomeTable, seq), &o)
		if err != nil {
			return fmt.Errorf("outcome %d: %w", seq, err)
		}
		m.core.calls.known, m.core.calls.again = o.Calls, known || seq < m.log.seq
		results, err := m.core.turn(r)
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

// outcome returns what came of a turn.
func (k *core) outcome(results []result) *outcome {
	o := &outcome{Calls: k.calls.made}
	for i := range results {
		if a := results[i].answer; a != nil {
			o.Answers = append(o.Answers, *a)
		}
	}
	return o
}

// same tells what differs between the outcome that was logged and the one that came of it.
func same(was, is *outcome) error {
	a, err := encode(was)
	if err != nil {
		return err
	}
	b, err := encode(is)
	if err != nil || bytes.Equal(a, b) {
		return err
	}
	return fmt.Errorf("%w: it comes to %s, and that one to %s", errOtherwise, b, a)
}

// conclude logs what came of a turn.
func (m *Market) conclude(seq int64, r *record, results []result) error {
	values := make(map[string]any)
	for _, c := range m.core.ended {
		values[string(key(contractTable, c.ID))] = c
	}
	for i := range results {
		if a := results[i].answer; a != nil && a.kept {
			account, id, sum := orderID(r.Messages[i].order())
			values[answerKey(account, id)] = answered{sum, *a}
		}
	}
	if o := m.core.outcome(results); len(o.Calls)+len(o.Answers) > 0 {
		values[string(key(outcomeTable, seq))] = o
	}
	if len(m.core.begun) > 0 {
		values[string(key(begunTable, seq))] = m.core.begun
	}
	if len(values) == 0 {
		return nil
	}
	return m.timed(m.world.Meter.LogSync, func() error { return m.log.set(values) })
}

// escrows returns what the bank holds for contracts of this market, by contract.
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

// held returns what the bank holds for contracts, or an error if it holds nothing for one.
// Where its last record was not done, another version may have ended it.
func (m *Market) held() (map[int64]*orphan, error) {
	held, err := m.escrows()
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(m.core.open)) {
		phase, open := m.core.broker.Phase(contracts.ID(id))
		if !open && !m.core.waits(id, "settle") {
			continue // only its penalty has not been paid
		}
		if phase != contracts.Asked && held[id] == nil {
			err := fmt.Errorf("contract %d is %v, and the bank holds nothing for it: it is another ledger, or one restored from before", id, phase)
			if m.undone {
				err = fmt.Errorf("%w, or %w", err, errOtherwise)
			}
			return nil, err
		}
	}
	return held, nil
}

// agree gives back whole what of held is of contracts of which nothing is known.
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

// Run is the loop. It returns when ctx ends, or the market cannot go on.
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

// pace is the least time between two turns in which hosts tell something and nothing else
// happens, s.
const pace = 0.05

// turn does one turn, of what is in letters.
func (m *Market) turn(now float64, letters []*letter) (err error) {
	m.turning <- struct{}{}
	defer func() { <-m.turning }()
	m.mu.Lock()
	defer m.mu.Unlock()
	all, begun := letters, m.world.Clock.Now()
	defer func() {
		for _, l := range all {
			l.answer(result{err: ErrStopped}) // unless it has been answered
		}
	}()
	now = max(now, m.core.now)
	letters, follow, err := m.known(letters)
	if err != nil {
		return err
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
	if m.log.seq >= m.saved.seq+m.every || now >= m.saved.at+m.pause {
		return m.save()
	}
	return nil
}

// back puts before the word of a host that was given up that it is back, and what its
// agent wants for it.
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
		if t := &p.told; t.Leaving == remote.AtOnce {
			out = append(out, newLetter(message{Remove: name}))
		} else if p.wants(t) {
			out = append(out, newLetter(message{Shut: &shutting{Host: name, Shut: !h.closed}}))
		}
	}
	return out
}

// at lets a test kill the market there.
func (m *Market) at(what string) error {
	if m.step == nil {
		return nil
	}
	return m.step(what)
}

// known answers the orders among letters that have been answered before. It returns those
// that are new, and those that are the same as one of them.
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

// ErrUsed means that an order's id was used for another.
var ErrUsed = errors.New("the id was used for another order")

// Close closes the log, with a checkpoint if all went well. Run has returned.
func (m *Market) Close() (err error) {
	m.stop()
	m.mail.close()
	if m.whole && m.log.seq > m.saved.seq {
		err = m.save()
	}
	return errors.Join(err, m.pruned(), m.log.db.Close())
}
