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

	// ErrClosed means that the bank is closed; nothing was applied.
	ErrClosed = errors.New("bank is closed")
)

// A Sequencer lets many goroutines use one ledger. It takes whatever requests
// wait, up to [GroupSize], applies them in order, makes them durable with one
// synced write, and only then answers: also readers, and those who ask for the
// second time, learn nothing that a power cut could still undo.
//
// Those who were answered last mostly ask again at once. Were the next group closed
// before they had a chance to, each sync would serve one half of them by turns; so
// the processor is first left to them, for a moment: no timer is set, and a client
// alone never waits.
type Sequencer struct {
	journal *Journal
	ledger  *bank.Ledger
	queue   chan *request
	asking  atomic.Int64 // those who may yet put a request in the queue

	group []*request // that is not answered yet
	many  int        // who waited or were answered when the last group was written

	closing chan struct{} // closed by Close
	once    sync.Once
	stopped chan struct{} // closed when the loop has ended
	err     error         // of closing; set before stopped is closed
}

// A request is an entry to book, or a look at the ledger.
type request struct {
	entry bank.Entry
	look  func(*bank.Ledger)

	taken   atomic.Bool // by the loop, or by its owner who gave up
	receipt Receipt
	err     error
	lost    error // instead: the bank failed, or is closed
	done    chan struct{}
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
	s := &Sequencer{
		journal: j,
		ledger:  l,
		group:   make([]*request, 0, GroupSize),
		queue:   make(chan *request, GroupSize),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
	}
	go s.run()
	return s
}

// Do books e and returns its receipt once it is durable. It gives e its Seq, and a
// later Time if another entry has one already. Asked again with the same ID and
// the same content, whatever its time, it returns the same receipt and books
// nothing; with other content, an error wrapping [ErrOtherBody].
//
// It waits while the queue is full. If ctx ends before e is looked at, the error
// wraps [ErrNotApplied]; afterwards the answer is waited for, which takes no
// longer than a write. Only an [ErrUnknown] leaves open what happened. Any other
// error is a refusal by [bank.Ledger.Book].
func (s *Sequencer) Do(ctx context.Context, e bank.Entry) (Receipt, error) {
	r := &request{entry: e, done: make(chan struct{})}
	if err := s.ask(ctx, r); err != nil {
		return Receipt{}, fmt.Errorf("request %s: %w", e.ID, err)
	}
	return r.receipt, r.err
}

// Look calls f with the ledger between two groups, and returns once what f saw is
// durable. f must neither change nor keep the ledger.
func (s *Sequencer) Look(ctx context.Context, f func(*bank.Ledger)) error {
	r := &request{look: f, done: make(chan struct{})}
	if err := s.ask(ctx, r); err != nil {
		return fmt.Errorf("look: %w", err)
	}
	return r.err
}

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

// ask puts r in the queue and waits for its answer.
func (s *Sequencer) ask(ctx context.Context, r *request) error {
	if err := s.put(ctx, r); err != nil {
		return err
	}
	if ctx.Done() != nil {
		select {
		case <-r.done:
		case <-ctx.Done():
			if r.taken.CompareAndSwap(false, true) {
				return fmt.Errorf("%w: %w", ErrNotApplied, ctx.Err())
			}
		}
	}
	<-r.done // if r was taken, the answer is near
	return r.lost
}

// put puts r in the queue. From then on it is answered, however the loop ends.
func (s *Sequencer) put(ctx context.Context, r *request) error {
	s.asking.Add(1)
	defer s.asking.Add(-1)
	select {
	case <-s.closing:
		return ErrClosed
	default:
	}
	select {
	case s.queue <- r:
		return nil
	default:
	}
	select {
	case s.queue <- r:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrNotApplied, ctx.Err())
	case <-s.closing:
		return ErrClosed
	}
}

// Close answers what waits, closes the journal, and refuses what comes later.
func (s *Sequencer) Close() error {
	s.once.Do(func() { close(s.closing) })
	<-s.stopped
	return s.err
}

// run is the loop that owns journal and ledger. If the journal fails, it ends,
// and so it does if what tells of the failure ends this goroutine.
func (s *Sequencer) run() {
	defer s.end()
	for {
		if s.gather(); len(s.group) == 0 {
			s.err = s.journal.Close()
			return
		}
		s.fetch(s.group)
		for _, r := range s.group {
			s.apply(r)
		}
		if s.err = s.journal.Flush(); s.err != nil {
			s.journal.release()
			return
		}
		s.many = len(s.group) + len(s.queue)
		for _, r := range s.group {
			close(r.done)
		}
		s.group = s.group[:0]
	}
}

// end answers those whose entries were in a group that was not written, and those
// who came too late.
func (s *Sequencer) end() {
	s.once.Do(func() { close(s.closing) })
	for _, r := range s.group {
		r.lost = ErrUnknown
		close(r.done)
	}
	for last := false; !last; runtime.Gosched() {
		last = s.asking.Load() == 0
		for range len(s.queue) {
			if r := <-s.queue; r.taken.CompareAndSwap(false, true) {
				r.lost = ErrClosed
				close(r.done)
			}
		}
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
		if _, late := s.journal.standing.requests[r.entry.ID]; !late && r.entry.ID != "" {
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

// gather waits for a request and takes all that wait, and those who may be about to
// ask. It takes none when the bank is closing and none is left.
func (s *Sequencer) gather() {
	idle, since := 0, time.Time{}
	for len(s.group) < GroupSize {
		var r *request
		select {
		case r = <-s.queue:
			idle = 0
		default:
			if n := len(s.group); n > 0 {
				if n >= s.many || idle == patience || idle > 0 && time.Since(since) > moment {
					return
				}
				if idle == 0 {
					since = time.Now()
				}
				idle++
				runtime.Gosched()
				continue
			}
			select {
			case r = <-s.queue:
			case <-s.closing:
				select {
				case r = <-s.queue:
				default:
					return
				}
			}
		}
		if r.taken.CompareAndSwap(false, true) {
			s.group = append(s.group, r)
		}
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
			r.err = fmt.Errorf("request %s, entry %d: %w", e.ID, a.Seq, ErrOtherBody)
			return
		case ok:
			r.receipt = a.Receipt
			return
		}
	}
	if now := s.ledger.Now(); e.Time < now {
		e.Time = now
	}
	if r.err = s.ledger.Book(e); r.err == nil {
		r.receipt = Receipt{e.Seq, s.journal.tree.last()}
	}
}
