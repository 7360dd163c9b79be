package broker

import (
	"slices"

	"bourse/contracts"
	"bourse/hosts"
)

// nobody is the id of no request.
const nobody contracts.ID = -1

// A waiting request has been deferred.
type waiting struct {
	request contracts.Request
	task    hosts.Task
	repeat  int32 // of a contract that is to be placed again: 1 + its place in the arena
}

// A Refusal is the rejection of a request that had waited.
type Refusal struct {
	ID       contracts.ID
	At       float64 // instant
	Decision contracts.Decision
}

// Refused returns the requests that were deferred and then rejected, in that
// order. The slice is the broker's own until Reset.
func (b *Broker) Refused() []Refusal { return b.refused }

// enqueue puts w where it belongs, behind its equals.
func (b *Broker) enqueue(order contracts.Orderer, w waiting) {
	at, _ := slices.BinarySearchFunc(b.queue, &w.request, func(w waiting, r *contracts.Request) int {
		if order.Less(r, &w.request) {
			return 1
		}
		return -1
	})
	b.queue = slices.Insert(b.queue, at, w)
}

// offer goes through the queue, and again after every acceptance, as long as
// something changes. What is decided of request id becomes the answer.
func (b *Broker) offer(now float64, id contracts.ID) error {
	b.freed = false
	if len(b.queue) == 0 {
		return nil
	}
	_, ordered := b.Policy.(contracts.Orderer)
	scanner, scans := b.Policy.(contracts.Scanner)
	for again := true; again; {
		again = false
		if scans {
			scanner.Scan(now)
		}
		for i := 0; i < len(b.queue); {
			b.asked = b.queue[i]
			w := &b.asked
			d, err := b.decide(now, w)
			if err != nil {
				return err
			}
			if d.Verdict == contracts.Defer {
				if ordered && !scans {
					break
				}
				i++
				continue
			}
			b.queue = slices.Delete(b.queue, i, i+1)
			if w.request.ID == id {
				b.answer = *d
			}
			switch {
			case d.Verdict == contracts.Accept:
				again = true
			case w.request.ID != id && w.repeat == 0:
				b.refused = append(b.refused, Refusal{w.request.ID, now, *d})
			}
			if again {
				break // from the front: there is less room now
			}
		}
	}
	return nil
}
