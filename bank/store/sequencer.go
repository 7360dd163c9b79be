package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

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
type Sequencer struct {
	journal *Journal
	ledger  *bank.Ledger
	queue   chan *request

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
	select {
	case <-s.closing:
		return ErrClosed
	default:
	}
	select {
	case s.queue <- r:
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrNotApplied, ctx.Err())
	case <-s.closing:
		return ErrClosed
	}
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		if r.taken.CompareAndSwap(false, true) {
			return fmt.Errorf("%w: %w", ErrNotApplied, ctx.Err())
		}
	case <-s.stopped:
	}
	select {
	case <-r.done: // taken: the answer is near
		return nil
	case <-s.stopped:
	}
	select {
	case <-r.done:
		return nil
	default:
	}
	if r.taken.CompareAndSwap(false, true) {
		return ErrClosed // queued after the last group
	}
	return ErrUnknown
}

// Close answers what waits, closes the journal, and refuses what comes later.
func (s *Sequencer) Close() error {
	s.once.Do(func() { close(s.closing) })
	<-s.stopped
	return s.err
}

// run is the loop that owns journal and ledger. If the journal fails, it ends
// without answering those whose entries were in the group.
func (s *Sequencer) run() {
	defer close(s.stopped)
	group := make([]*request, 0, GroupSize)
	for {
		if group = s.gather(group[:0]); len(group) == 0 {
			s.err = s.journal.Close()
			return
		}
		s.fetch(group)
		for _, r := range group {
			s.apply(r)
		}
		if s.err = s.journal.Flush(); s.err != nil {
			s.once.Do(func() { close(s.closing) })
			s.journal.release()
			return
		}
		for _, r := range group {
			close(r.done)
		}
	}
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

// gather waits for a request and takes all that wait. It returns none when the
// bank is closing and none is left.
func (s *Sequencer) gather(group []*request) []*request {
	for len(group) < GroupSize {
		var r *request
		select {
		case r = <-s.queue:
		default:
			if len(group) > 0 {
				return group
			}
			select {
			case r = <-s.queue:
			case <-s.closing:
				select {
				case r = <-s.queue:
				default:
					return group
				}
			}
		}
		if r.taken.CompareAndSwap(false, true) {
			group = append(group, r)
		}
	}
	return group
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
