package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"bourse/bank"
	"bourse/bank/order"
	"bourse/bank/owners"
)

// What a sequencer may answer besides what a ledger does.
var (
	// ErrNotApplied means that a request was given up before it was looked at.
	ErrNotApplied = errors.New("not applied")

	// ErrUnknown means that the bank failed while it wrote. Ask again with the
	// same id once it is open again: what was applied is answered as it was.
	ErrUnknown = errors.New("applied or not is unknown: ask again with the same id")

	// ErrOtherBody means that the id was used for another request.
	ErrOtherBody = errors.New("id was used for another request")

	// ErrRefused means that the owners of a ledger have not asked for it: nothing was
	// applied.
	ErrRefused = bank.ErrRefused

	// ErrClock means that the clock of the ledger and the times of its entries disagree:
	// nothing was applied. The same request may be sent again once the clock is right.
	ErrClock = errors.New("the clock is wrong")

	// ErrClosed means that the bank is closed; nothing was applied.
	ErrClosed = errors.New("bank is closed")
)

// A Sequencer lets many goroutines use one ledger. It applies requests in order, as
// they come, up to [GroupSize] of them, makes them durable with one synced write, and
// only then answers all at once: also readers, and those who ask for the second time,
// learn nothing that a power cut could still undo.
//
// Those who were answered last mostly ask again at once. Were the next group closed
// before they had a chance to, each sync would serve one half of them by turns; so
// the processor is first left to them, for a moment: no timer is set, and a client
// alone never waits.
//
// No group is applied while another is written. It was tried: on two processors it
// served no more, since each group is then one half of those who ask, and costs a sync.
type Sequencer struct {
	journal *Journal
	ledger  *bank.Ledger
	queue   *queue
	twins   twins
	spare   sync.Pool // of requests that were answered

	id   atomic.Value // of the ledger, a string, empty while it is open
	keys sync.Map     // of accounts, by name, as they last were

	now  *round // that is being written
	many int    // who waited or were answered when the last group was written

	stopped chan struct{} // closed when the loop has ended
	err     error         // of closing; set before stopped is closed
}

// OpenSequencer opens the ledger in dir for many to use.
func OpenSequencer(dir string, opts Options) (*Sequencer, error) {
	j, l, err := Open(dir, opts)
	if err != nil {
		return nil, err
	}
	return NewSequencer(j, l), nil
}

// NewSequencer lets many use l, whose journal is j. Both are the sequencer's from
// now on, until Close closes j.
func NewSequencer(j *Journal, l *bank.Ledger) *Sequencer {
	s := &Sequencer{journal: j, ledger: l, queue: newQueue(), twins: j.newTwins(l), stopped: make(chan struct{})}
	s.spare.New = func() any { return new(request) }
	s.id.Store(j.owners.Ledger())
	go s.run()
	return s
}

// Do books e and returns its receipt once it is durable. It gives e its Seq, and a
// later Time if another entry has one already. Asked again with the same ID and
// the same content, whatever its time, it returns the same receipt and books
// nothing; with other content, an error wrapping [ErrOtherBody].
//
// In an owned ledger the content of what one order asks for by itself is the order's signed
// text. A refusal of such an order is final: it is booked, and the same order sent again, to
// this ledger or to a copy, is refused for the same reason. Refusals are not final if they
// are by [ErrClock], if e is not just what an order asks for that is signed by the keys that
// must sign it, if a market writes e, or in an open ledger.
//
// If the ledger has a clock, transfers, issues and records of owners have its time. The
// error wraps [ErrClock] if the last entry, or another e, is dated more than a minute ahead
// of it.
//
// It waits while the queue is full. If ctx ends before e is looked at, the error
// wraps [ErrNotApplied]; afterwards the answer is waited for, which takes no
// longer than a write. Only an [ErrUnknown] leaves open what happened. Any other
// error is a refusal: by the ledger's owners, an [ErrRefused], or [bank.Ledger.Book].
func (s *Sequencer) Do(ctx context.Context, e bank.Entry) (Receipt, error) {
	r := s.spare.Get().(*request)
	r.entry = e
	if s.Ledger() != "" {
		r.signed, _ = s.check(e.Note)
	}
	if err := s.ask(ctx, r); err != nil {
		return Receipt{}, fmt.Errorf("request %s: %w", e.ID, err)
	}
	return s.answered(r)
}

// An Asked is an entry that is asked for, whose order was read.
type Asked struct {
	bank.Entry
	signed  *order.Signed
	account string
}

// Account returns the account that signed the order, by the key that it had last: empty
// if that is not known yet, or did not sign it.
func (a Asked) Account() string { return a.account }

// Ask reads the order of an entry, for [Sequencer.DoAll], and checks its signature by the
// key that its account had last: so it is done by who asks, and not by the loop, which
// asks whether that is still the key.
func (s *Sequencer) Ask(e bank.Entry) Asked {
	if s.Ledger() == "" {
		return Asked{Entry: e}
	}
	signed, account := s.check(e.Note)
	return Asked{e, signed, account}
}

// DoAll does each of many as [Sequencer.Do] does one, in their order; most of them share a
// write. It returns a receipt or an error for each.
func (s *Sequencer) DoAll(ctx context.Context, all []Asked) ([]Receipt, []error) {
	receipts, errs := make([]Receipt, len(all)), make([]error, len(all))
	asked, done := make([]*request, len(all)), make([]<-chan struct{}, len(all))
	for i, a := range all {
		asked[i] = s.spare.Get().(*request)
		asked[i].entry, asked[i].signed = a.Entry, a.signed
		done[i], errs[i] = s.queue.put(ctx, asked[i])
	}
	for i, r := range asked {
		if errs[i] == nil {
			errs[i] = s.await(ctx, r, done[i])
		}
		if errs[i] != nil {
			errs[i] = fmt.Errorf("request %s: %w", all[i].ID, errs[i])
			continue
		}
		receipts[i], errs[i] = s.answered(r)
	}
	return receipts, errs
}

// check reads a signed order, nil if it is none, and returns its account if the key that
// this had last signed it.
func (s *Sequencer) check(note []byte) (signed *order.Signed, account string) {
	signed, err := order.Open(note)
	if err != nil {
		return nil, ""
	}
	account = signed.Value("account")
	if key, ok := s.keys.Load(account); !ok || !signed.By(key.(string)) {
		return signed, ""
	}
	return signed, account
}

// answered returns what r was answered, which is used again.
func (s *Sequencer) answered(r *request) (Receipt, error) {
	receipt, err := r.receipt, r.err
	*r = request{}
	s.spare.Put(r)
	return receipt, err
}

// Look calls f with the ledger between two entries, and returns once what f saw is
// durable. f must neither change nor keep the ledger.
func (s *Sequencer) Look(ctx context.Context, f func(*bank.Ledger)) error {
	r := &request{look: f}
	if err := s.ask(ctx, r); err != nil {
		return fmt.Errorf("look: %w", err)
	}
	return r.err
}

// Owners calls f with the owners of the ledger as [Sequencer.Look] does.
func (s *Sequencer) Owners(ctx context.Context, f func(o *owners.Owners, now float64)) error {
	return s.Look(ctx, func(l *bank.Ledger) { f(&s.journal.owners, l.Now()) })
}

// Ledger returns the id of the ledger, empty if it is open.
func (s *Sequencer) Ledger() string { return s.id.Load().(string) }

// Balance returns what the account called name holds.
func (s *Sequencer) Balance(ctx context.Context, name string) (b bank.Amount, err error) {
	err = s.Look(ctx, func(l *bank.Ledger) {
		if a, ok := l.Lookup(name); ok {
			b = l.Balance(a)
		} else if contract, err := bank.EscrowContract(name); err == nil {
			b, _ = l.Escrow(contract)
		}
	})
	return b, err
}

// ask puts r in the queue and waits for its answer. Only after an answer may r be used
// again: the loop has still to see of a request that it was given up.
func (s *Sequencer) ask(ctx context.Context, r *request) error {
	done, err := s.queue.put(ctx, r)
	if err != nil {
		return err
	}
	return s.await(ctx, r, done)
}

// await waits for the answer to r, after which done is closed.
func (s *Sequencer) await(ctx context.Context, r *request, done <-chan struct{}) error {
	if ctx.Done() != nil {
		select {
		case <-done:
		case <-ctx.Done():
			if r.taken.CompareAndSwap(false, true) {
				return fmt.Errorf("%w: %w", ErrNotApplied, ctx.Err())
			}
		}
	}
	<-done // if r was taken, the answer is near
	if r.lost {
		return r.err
	}
	return nil
}

// Close answers what waits, closes the journal, and refuses what comes later.
func (s *Sequencer) Close() error {
	s.queue.close()
	<-s.stopped
	return s.err
}

// run is the loop that owns journal and ledger. If the journal fails, it ends,
// and so it does if what tells of the failure ends this goroutine.
func (s *Sequencer) run() {
	defer s.end()
	for s.queue.wait() {
		s.now = s.gather()
		if s.err = s.journal.Flush(); s.err != nil {
			s.journal.release()
			return
		}
		n := len(s.now.requests)
		s.many = n + s.queue.answer(s.now)
		s.now = nil
	}
	s.err = s.journal.Close()
}

// end answers those who were looked at and whose group was not written, and those who
// came too late.
func (s *Sequencer) end() {
	s.queue.close()
	for _, r := range []*round{s.now, s.queue.next} {
		if r == nil {
			continue
		}
		for i, a := range r.requests {
			if a.lost, a.err = true, ErrClosed; i < r.looked {
				a.err = ErrUnknown
			}
		}
		close(r.done)
	}
	close(s.stopped)
}

// fetch tells of the ids that apply will look for.
func (s *Sequencer) fetch(group []*request) {
	if s.journal.fetch == nil {
		return
	}
	var keys [][]byte
	for _, r := range group {
		if _, late := s.journal.pending.requests[r.entry.ID]; !late && r.entry.ID != "" {
			keys = append(keys, requestKey(r.entry.ID))
		}
	}
	s.journal.fetch(keys)
}

// The processor is left to others so often in a row in vain, and for no longer: where
// many compute, to leave it once may take long.
const (
	patience = 32
	moment   = 200 * time.Microsecond
)

// gather does what those ask who wait, and those who may be about to ask, and returns
// all of them. They are served as they come, while others are still on their way.
func (s *Sequencer) gather() *round {
	idle, since := 0, time.Time{}
	for n := 0; ; {
		if more := s.queue.take(); len(more) > 0 {
			s.fetch(more)
			for _, r := range more {
				if r.taken.CompareAndSwap(false, true) {
					s.apply(r)
				}
			}
			n += len(more)
			idle = 0
		}
		if n >= min(s.many, GroupSize) || idle == patience || idle > 0 && time.Since(since) > moment {
			if r := s.queue.turn(); r != nil {
				return r
			}
			continue
		}
		if idle == 0 {
			since = time.Now()
		}
		idle++
		runtime.Gosched()
	}
}

// apply does what r asks; the answer is given later.
func (s *Sequencer) apply(r *request) {
	if r.look != nil {
		r.look(s.ledger)
		return
	}
	e := &r.entry
	if e.ID != "" {
		a, ok, err := s.journal.answer(e.ID)
		switch {
		case err != nil:
			r.err = err
			return
		case ok && a.body != digest(e):
			r.receipt, r.err = s.again(e, r.signed, a)
			return
		case ok:
			r.receipt = a.Receipt
			return
		}
	}
	if r.err = s.date(e); r.err != nil {
		return
	}
	if r.err = s.book(e, r.signed); r.err == nil {
		r.receipt = Receipt{e.Seq, s.journal.tree.last()}
		s.learn(r)
		return
	}
	r.err = s.refuse(e, r.signed, r.err)
}

// book books e, which carries an order, if its owners have asked for it.
func (s *Sequencer) book(e *bank.Entry, signed *order.Signed) error {
	err := s.journal.owners.Check(e, signed, s.ledger)
	if err == nil && e.Kind == bank.Refuse {
		err = errors.New("found a refusal, which only the ledger writes")
	}
	if err != nil {
		return fmt.Errorf("%v entry %d: %w: %w", e.Kind, s.ledger.Entries()+1, ErrRefused, err)
	}
	if err := s.twins.check(e, signed, s.known); err != nil {
		return fmt.Errorf("%v entry %d: %w", e.Kind, s.ledger.Entries()+1, err)
	}
	if err := s.ledger.Book(e); err != nil {
		return err
	}
	s.twins.opened(e, signed)
	return nil
}

// ahead is by how much entries may be ahead of the ledger's clock, in seconds.
const ahead = 60

// date gives e the time of the ledger's clock, if it has one, unless a market gave it an
// earlier one; and that of the last entry if this is later.
func (s *Sequencer) date(e *bank.Entry) error {
	last := s.ledger.Now()
	if s.journal.now != nil {
		now := s.journal.now()
		if e.Contract == bank.NoContract {
			e.Time = now
		}
		if at := max(last, e.Time); !(at <= now+ahead) {
			what := "this entry"
			if at == last {
				what = "the ledger's last entry"
			}
			return fmt.Errorf("%w: it is at %s, and %s is dated %.0f s later, at %s; nothing was booked: send it again once the clock is right", ErrClock, order.Instant(now), what, at-now, order.Instant(at))
		}
	}
	if e.Time < last {
		e.Time = last
	}
	return nil
}

// learn remembers the key of who signed what r asked for.
func (s *Sequencer) learn(r *request) {
	if r.signed == nil {
		if r.entry.Kind == bank.Owner {
			s.id.Store(s.journal.owners.Ledger())
		}
		return
	}
	account := r.signed.Value("account")
	key := s.journal.owners.Key(account)
	if was, ok := s.keys.Load(account); !ok || was != key {
		s.keys.Store(account, key)
	}
}
