package broker

import (
	"math"

	"bourse/contracts"
)

// An entrusted request waits in a dispatcher's queue.
type entrusted struct {
	place map[contracts.ID]int32
	all   []waiting
	free  []int32
}

func (e *entrusted) len() int { return len(e.place) }

func (e *entrusted) reset() {
	clear(e.place)
	e.all, e.free = e.all[:0], e.free[:0]
}

func (e *entrusted) put(w waiting) {
	if e.place == nil {
		e.place = make(map[contracts.ID]int32)
	}
	i := int32(len(e.all))
	if n := len(e.free); n > 0 {
		i, e.free = e.free[n-1], e.free[:n-1]
		e.all[i] = w
	} else {
		e.all = append(e.all, w)
	}
	e.place[w.request.ID] = i
}

func (e *entrusted) take(id contracts.ID) (w waiting, ok bool) {
	i, ok := e.place[id]
	if ok {
		w = e.all[i]
		delete(e.place, id)
		e.free = append(e.free, i)
	}
	return w, ok
}

// Looks is when the broker's policy looks at its queue, if it is a
// [contracts.Dispatcher]: a source of time of its own, to be advanced after what is
// submitted at the same instant, which is so looked at already.
func (b *Broker) Looks() *Looks { return &Looks{b} }

// Looks lets a dispatcher look.
type Looks struct{ b *Broker }

// Next returns the instant of the next look, +Inf if there is none.
func (l *Looks) Next() float64 {
	if l.b.dispatcher == nil {
		return math.Inf(1)
	}
	return l.b.dispatcher.Next()
}

// Advance looks, and carries out what is decided. The broker has been advanced to
// now.
func (l *Looks) Advance(now float64) error {
	b := l.b
	b.now = now
	b.answers = b.dispatcher.Look(now, view{b}, b.answers[:0])
	b.seen()
	for k := range b.answers {
		a := &b.answers[k]
		w, fresh := b.entrusted.take(a.ID)
		if !fresh {
			w.repeat = b.again[a.ID] + 1
			delete(b.again, a.ID)
		}
		on := a.Placements
		if err := b.carry(now, &w, &a.Decision); err != nil {
			return err
		}
		if a.Verdict == contracts.Reject && fresh {
			b.refused = append(b.refused, Refusal{a.ID, now, a.Decision})
			for _, pl := range on {
				b.dispatcher.Off(now, a.ID, pl.Host)
			}
		}
	}
	return nil
}
