package store

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"bourse/bank"
	"bourse/bank/order"
)

// A request is an entry to book, or a look at the ledger.
type request struct {
	entry  bank.Entry
	signed *order.Signed // that the entry carries, if it was read already
	look   func(*bank.Ledger)

	taken atomic.Bool // by the loop, or by its owner who gave up

	_       [12]byte // the answer stands in one cache line, which comes from another core
	receipt Receipt
	err     error
	lost    bool // err tells instead that the bank failed, or is closed
}

// A round is the requests that share a group, and are answered at once: to wake all
// who wait for one channel takes less than to send each an answer.
type round struct {
	requests []*request
	looked   int           // at so many of them
	done     chan struct{} // closed once all have their answers
}

// A queue is the round that requests are put in, for one loop to take.
type queue struct {
	mu     sync.Mutex
	next   *round
	spare  *round        // that was answered, to be used again
	room   chan struct{} // closed once next has room; nil if nobody waits for it
	closed bool
	idle   bool          // the loop waits for the bell
	bell   chan struct{} // holds one ring
}

func newQueue() *queue {
	return &queue{next: newRound(), spare: newRound(), bell: make(chan struct{}, 1)}
}

func newRound() *round {
	return &round{requests: make([]*request, 0, 1024), done: make(chan struct{})}
}

// put puts r in the next round, and returns what is closed once it is answered. It
// waits while the round is full.
func (q *queue) put(ctx context.Context, r *request) (done <-chan struct{}, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && len(q.next.requests) == GroupSize {
		if err := q.await(ctx); err != nil {
			return nil, err
		}
	}
	if q.closed {
		return nil, ErrClosed
	}
	q.next.requests = append(q.next.requests, r)
	q.wake()
	return q.next.done, nil
}

// await waits for room, unlocked.
func (q *queue) await(ctx context.Context) error {
	if q.room == nil {
		q.room = make(chan struct{})
	}
	room := q.room
	q.mu.Unlock()
	defer q.mu.Lock()
	select {
	case <-room:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrNotApplied, ctx.Err())
	}
}

// wake rings for the loop, if it waits.
func (q *queue) wake() {
	if q.idle {
		q.idle = false
		q.bell <- struct{}{}
	}
}

// admit lets in those who wait for room.
func (q *queue) admit() {
	if q.room != nil {
		close(q.room)
		q.room = nil
	}
}

// close lets nobody put anything any more.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake()
	q.admit()
}

// wait waits until the next round has requests, and tells whether it has: not if the
// queue is closed and empty.
func (q *queue) wait() bool {
	for {
		q.mu.Lock()
		some, closed := len(q.next.requests) > 0, q.closed
		q.idle = !some && !closed
		q.mu.Unlock()
		if some || closed {
			return some
		}
		<-q.bell
	}
}

// take returns the requests of the next round that were not looked at.
func (q *queue) take() []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.next.looked
	q.next.looked = len(q.next.requests)
	return q.next.requests[n:]
}

// turn returns the next round if all of it was looked at, nil otherwise; what is put
// from then on is in another.
func (q *queue) turn() *round {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.next
	if r.looked < len(r.requests) {
		return nil
	}
	q.next, q.spare = q.spare, nil
	q.admit()
	return r
}

// answer tells those in r that they have their answers, and returns how many are in the
// next round already.
func (q *queue) answer(r *round) int {
	close(r.done)
	clear(r.requests)
	r.requests, r.looked, r.done = r.requests[:0], 0, make(chan struct{})
	q.mu.Lock()
	defer q.mu.Unlock()
	q.spare = r
	return len(q.next.requests)
}
