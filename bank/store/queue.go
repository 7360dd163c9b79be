package store

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"bourse/bank"
	"bourse/bank/owners"
)

// A request is an entry to book, or a function that reads the ledger.
type request struct {
	entry  bank.Entry
	signed *owners.Signed // order in entry, if it was parsed already
	look   func(*bank.Ledger)

	taken atomic.Bool // set by the loop, or by a client that gives up

	_       [12]byte // padding that puts the reply into one cache line, because another core writes the reply
	receipt Receipt
	err     error
	lost    bool // whether err means that the bank has failed or is closed
}

// A round is the set of requests that share a group and are answered together. Waking all
// clients that wait for one channel is faster than sending a reply to each client.
type round struct {
	requests []*request
	looked   int           // number of requests that the loop has taken
	done     chan struct{} // closed once all requests have their replies
}

// A queue collects requests in a round, for one loop to process.
type queue struct {
	mu     sync.Mutex
	next   *round
	spare  *round        // answered round, for reuse
	room   chan struct{} // closed when next has room; nil if no client waits for it
	closed bool
	idle   bool          // whether the loop is waiting
	bell   chan struct{} // buffers one ring
}

func newQueue() *queue {
	return &queue{next: newRound(), spare: newRound(), bell: make(chan struct{}, 1)}
}

func newRound() *round {
	return &round{requests: make([]*request, 0, 1024), done: make(chan struct{})}
}

// put adds r to the next round and returns a channel that is closed once r is answered. It
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

// await waits for room. It unlocks the queue while it waits.
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

// wake wakes the loop if it is waiting.
func (q *queue) wake() {
	if q.idle {
		q.idle = false
		q.bell <- struct{}{}
	}
}

// admit wakes the clients that wait for room.
func (q *queue) admit() {
	if q.room != nil {
		close(q.room)
		q.room = nil
	}
}

// close makes put reject further requests.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake()
	q.admit()
}

// wait waits until the next round has requests. It returns false if the queue is closed and
// empty.
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

// take returns the requests of the next round that the loop has not taken yet.
func (q *queue) take() []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.next.looked
	q.next.looked = len(q.next.requests)
	return q.next.requests[n:]
}

// turn returns the next round if all its requests have been taken, and nil if not. Requests
// that arrive later belong to another round.
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

// answer wakes the clients of r and returns the number of requests already in the next round.
func (q *queue) answer(r *round) int {
	close(r.done)
	clear(r.requests)
	r.requests, r.looked, r.done = r.requests[:0], 0, make(chan struct{})
	q.mu.Lock()
	defer q.mu.Unlock()
	q.spare = r
	return len(q.next.requests)
}
