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
	"bourse/bank/owners"
)

// A sequencer returns these errors in addition to the errors of the ledger.
var (
	// ErrNotApplied means that the request was canceled before it was processed.
	ErrNotApplied = errors.New("not applied")

	// ErrUnknown means that the bank failed during a write. Repeat the request with the same
	// id when the bank is open again. If the request was applied, the reply is the original
	// one.
	ErrUnknown = errors.New("outcome unknown: repeat the request with the same id")

	// ErrOtherBody means that the id was already used for a different request.
	ErrOtherBody = errors.New("id was used for another request")

	// ErrRefused means that the owners of the ledger did not authorize the entry. Nothing was
	// applied.
	ErrRefused = bank.ErrRefused

	// ErrClock means that the ledger's clock and the times of its entries disagree. Nothing
	// was applied. The same request can be sent again once the clock is correct.
	ErrClock = errors.New("the clock is wrong")

	// ErrClosed means that the bank is closed. Nothing was applied.
	ErrClosed = errors.New("bank is closed")
)

// A Sequencer serializes the access of many goroutines to one ledger. It applies up to
// [GroupSize] requests in order of arrival and makes them durable with one synced write. It
// replies to the requests only afterwards. Readers and repeated requests also wait for the
// write, so no reply reveals data that a power failure could undo.
//
// Most clients send their next request immediately after a reply. If the next group were closed
// before these requests arrive, each sync would serve only half of the clients. The loop
// therefore first yields the processor to them for a short time. It uses no timer, and a single
// client never waits.
//
// No group is applied while another group is being written. We tried this, but on two
// processors the throughput was not higher: each group then contains half of the clients'
// requests and still costs a sync.
type Sequencer struct {
	journal *Journal
	ledger  *bank.Ledger
	queue   *queue
	twins   twins
	spare   sync.Pool // requests for reuse

	id   atomic.Value // id of the ledger, a string; empty while the ledger is open
	keys sync.Map     // latest known key of each account, by name

	now  *round // round that is being written
	many int    // number of requests that waited or were answered when the last group was written

	stopped chan struct{} // closed when the loop has ended
	err     error         // error of closing; set before stopped is closed
}

// OpenSequencer opens the ledger in dir for concurrent use.
func OpenSequencer(dir string, opts Options) (*Sequencer, error) {
	j, l, err := Open(dir, opts)
	if err != nil {
		return nil, err
	}
	return NewSequencer(j, l), nil
}

// NewSequencer returns a sequencer for l, whose journal is j. The sequencer owns both until
// Close closes j.
func NewSequencer(j *Journal, l *bank.Ledger) *Sequencer {
	s := &Sequencer{journal: j, ledger: l, queue: newQueue(), twins: j.newTwins(l), stopped: make(chan struct{})}
	s.spare.New = func() any { return new(request) }
	s.id.Store(j.owners.Ledger())
	go s.run()
	return s
}

// Do books e and returns its receipt once the entry is durable. It sets the Seq of e, and
// raises its Time to the time of the previous entry if necessary. If a request is repeated
// with the same ID and content, even at another time, Do returns the original receipt and
// books nothing. If the content differs, it returns an error wrapping [ErrOtherBody].
//
// In an owned ledger, the content of an entry that a single order requests is the signed text
// of the order. A refusal of such an order is final: it is booked. If the same order is sent
// again, to this ledger or a copy, it is refused for the same reason. A refusal is not final
// if it wraps [ErrClock], if a market writes e, or if the ledger is open. It is also not final
// unless e is exactly the entry requested by an order with all required signatures.
//
// If the ledger has a clock, transfers, issues and owner records are dated by that clock. The
// error wraps [ErrClock] if the last entry is dated more than a minute ahead of the clock, or
// if e has another kind and is dated more than a minute ahead.
//
// Do waits while the queue is full. If ctx ends before e is processed, the error wraps
// [ErrNotApplied]. Afterwards Do waits for the reply, which takes no longer than a write. Only
// [ErrUnknown] leaves the outcome open. Any other error is a refusal, either by the ledger's
// owners ([ErrRefused]) or by [bank.Ledger.Book].
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

// An Asked is an entry to book, with its parsed order.
type Asked struct {
	bank.Entry
	signed  *owners.Signed
	account string
}

// Account returns the account that signed the order, according to its latest known key. It is
// empty if the key is not known yet or did not sign the order.
func (a Asked) Account() string { return a.account }

// Ask parses the order of an entry for [Sequencer.DoAll] and checks its signature against the
// latest known key of its account. The caller's goroutine does this work. The loop then only
// checks that the key is still current.
func (s *Sequencer) Ask(e bank.Entry) Asked {
	if s.Ledger() == "" {
		return Asked{Entry: e}
	}
	signed, account := s.check(e.Note)
	return Asked{e, signed, account}
}

// DoAll books each entry of all, in order, as [Sequencer.Do] does. Most of the entries share
// one write. It returns a receipt or an error for each entry.
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

// check parses a signed order, or returns nil if the note contains none. It also returns the
// order's account if the latest known key of the account signed it.
func (s *Sequencer) check(note []byte) (signed *owners.Signed, account string) {
	if signed = owners.Open(note); signed == nil {
		return nil, ""
	}
	account = signed.Value("account")
	if key, ok := s.keys.Load(account); !ok || !signed.By(key.(string)) {
		return signed, ""
	}
	return signed, account
}

// answered returns the reply to r and releases r for reuse.
func (s *Sequencer) answered(r *request) (Receipt, error) {
	receipt, err := r.receipt, r.err
	*r = request{}
	s.spare.Put(r)
	return receipt, err
}

// Look calls f with the ledger between two entries. It returns when everything that f has read
// is durable. The function f must neither change nor retain the ledger.
func (s *Sequencer) Look(ctx context.Context, f func(*bank.Ledger)) error {
	r := &request{look: f}
	if err := s.ask(ctx, r); err != nil {
		return fmt.Errorf("look: %w", err)
	}
	return r.err
}

// Owners calls f with the ledger's owners, as [Sequencer.Look] does.
func (s *Sequencer) Owners(ctx context.Context, f func(o *owners.Owners, now float64)) error {
	return s.Look(ctx, func(l *bank.Ledger) { f(&s.journal.owners, l.Now()) })
}

// Ledger returns the id of the ledger, or "" if it is open.
func (s *Sequencer) Ledger() string { return s.id.Load().(string) }

// Balance returns the balance of the account called name.
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

// ask puts r in the queue and waits for the reply. The caller may reuse r only after a reply.
// If the request was canceled, the loop must still read the cancellation from r.
func (s *Sequencer) ask(ctx context.Context, r *request) error {
	done, err := s.queue.put(ctx, r)
	if err != nil {
		return err
	}
	return s.await(ctx, r, done)
}

// await waits for the reply to r, which is complete once done is closed.
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
	<-done // the loop has taken r, so the reply will follow soon
	if r.lost {
		return r.err
	}
	return nil
}

// Close answers the waiting requests, closes the journal, and rejects later requests.
func (s *Sequencer) Close() error {
	s.queue.close()
	<-s.stopped
	return s.err
}

// run is the loop that owns the journal and the ledger. It ends if the journal fails, even if
// the function that handles the failure ends this goroutine.
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

// end replies with an error to requests that were processed but not written, and to requests
// that were not processed.
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

// fetch prefetches the ids that apply will look up.
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

// gather yields the processor at most patience times in succession without receiving a
// request, and for at most the duration moment. On a busy machine a single yield may take
// long.
const (
	patience = 32
	moment   = 200 * time.Microsecond
)

// gather applies the waiting requests and the requests that arrive shortly afterwards, and
// returns their round. It applies each request when it arrives, while it waits for further
// requests.
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

// apply processes r and stores the reply in r. The reply is sent later.
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

// book books e, which contains an order, if the owners of the ledger have authorized it.
func (s *Sequencer) book(e *bank.Entry, signed *owners.Signed) error {
	err := s.journal.owners.Check(e, signed, s.ledger)
	if err == nil && e.Kind == bank.Refuse {
		err = errors.New("found a refusal entry, which only the ledger may write")
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

// ahead is the maximum time, in seconds, by which entries may be ahead of the ledger's clock.
const ahead = 60

// date sets the time of e. If the ledger has a clock, entries without a contract are dated by
// that clock. The time of an entry is never earlier than the time of the last entry.
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
			return fmt.Errorf("%w: it shows %s, but %s is dated %.0f s later, at %s; nothing was booked: correct the clock, then send it again", ErrClock, bank.Instant(now), what, at-now, bank.Instant(at))
		}
	}
	if e.Time < last {
		e.Time = last
	}
	return nil
}

// learn stores the current key of the account that signed the order of r.
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
