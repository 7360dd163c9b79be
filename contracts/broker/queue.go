package broker

import (
	"math"
	"slices"

	"bourse/contracts"
	"bourse/hosts"
	"bourse/hosts/agenda"
)

// nobody is the id of no request.
const nobody contracts.ID = -1

// A waiting request has been deferred.
type waiting struct {
	request contracts.Request
	task    hosts.Task
	repeat  int32 // of a contract that is to be placed again: 1 + its place in the arena
	alarm   int32 // 1 + its number in overdue, 0 if it is not there
}

// overdue are requests that wait, numbered, by their hard deadlines.
type overdue struct {
	agenda.Agenda
	numbers int32
	free    []int32
}

func (o *overdue) reset() {
	o.Agenda.Reset()
	o.numbers, o.free = 0, o.free[:0]
}

// add enters a request and returns its number.
func (o *overdue) add(due float64) int32 {
	i := o.numbers
	if n := len(o.free); n > 0 {
		i, o.free = o.free[n-1], o.free[:n-1]
	} else {
		o.numbers++
	}
	o.Set(i, due)
	return i
}

// drop takes out the request of that number.
func (o *overdue) drop(i int32) {
	o.Remove(i)
	o.free = append(o.free, i)
}

// wait enters w in the queue at that place.
func (b *Broker) wait(at int, w waiting) {
	w.alarm = 0
	_, patient := b.Policy.(contracts.Patient)
	patient = patient || b.planner != nil
	if due := w.request.Due(); w.repeat == 0 && !patient && !w.request.SLA.GoesOn() && !math.IsInf(due, 1) {
		w.alarm = 1 + b.overdue.add(max(due, b.now))
	}
	b.queue = slices.Insert(b.queue, at, w)
}

// unwait takes what is at that place out of the queue.
func (b *Broker) unwait(at int) {
	if alarm := b.queue[at].alarm; alarm > 0 {
		b.overdue.drop(alarm - 1)
	}
	b.queue = slices.Delete(b.queue, at, at+1)
}

// lapse rejects the first request that waits beyond its hard deadline.
func (b *Broker) lapse(now float64) error {
	first, _, _ := b.overdue.Min()
	at := slices.IndexFunc(b.queue, func(w waiting) bool { return w.alarm == first+1 })
	b.asked, b.said = b.queue[at], contracts.Decision{Reason: contracts.TooLate}
	b.unwait(at)
	b.refused = append(b.refused, Refusal{b.asked.request.ID, now, b.said})
	b.freed = true // who waited behind it is asked again
	return b.carry(now, &b.asked, &b.said)
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
	b.wait(at, w)
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
			b.unwait(i)
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
