package verify

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// Since version 2 a contract that has spent its value has no weight in the auction from that
// moment on: it bids nothing, and gets what those who bid leave. Nobody pays more than he bids,
// so that a contract is looked at when it would have spent all if it paid its bids; from then
// on its tasks are looked at one by one, and the moment is computed anew whenever something
// changes on one of their hosts.

// A look is an instant at which the money of a contract is looked at, unless it is another's
// place by then, or is looked at at another instant.
type look struct {
	at float64
	id int64
	of *contract
}

// looks are a heap by instant.
type looks []look

// Len implements [heap.Interface].
func (l looks) Len() int { return len(l) }

// Less implements [heap.Interface].
func (l looks) Less(i, j int) bool {
	return l[i].at < l[j].at || l[i].at == l[j].at && l[i].id < l[j].id
}

// Swap implements [heap.Interface].
func (l looks) Swap(i, j int) { l[i], l[j] = l[j], l[i] }

// Push implements [heap.Interface].
func (l *looks) Push(x any) { *l = append(*l, x.(look)) }

// Pop implements [heap.Interface].
func (l *looks) Pop() any {
	last := len(*l) - 1
	x := (*l)[last]
	*l = (*l)[:last]
	return x
}

// look has the money of d looked at then.
func (m *market) look(d *contract, at float64) {
	if d.look != at {
		d.look = at
		heap.Push(&m.looks, look{at, d.id, d})
	}
}

// nextLook returns when money is looked at next, +Inf if it is not.
func (m *market) nextLook() float64 {
	for len(m.looks) > 0 {
		if l := &m.looks[0]; l.of.id == l.id && l.of.look == l.at {
			return l.at
		}
		heap.Pop(&m.looks)
	}
	return math.Inf(1)
}

// lasts says when the money of d, which bids anew, is to be looked at. Bids that are meant to
// last until its deadline do, but for what rounding takes: a hundredth of a nano-dollar per
// second and task, and a part in 10^9.
func (m *market) lasts(d *contract, now float64) {
	if m.rules.Version < 2 || m.rules.Sharing != "auction" {
		return
	}
	d.look = math.NaN()
	m.unwatch(d)
	left, bids, tasks := float64(d.value)*1e3, 0.0, 0.0
	for i := range d.tasks {
		n := &d.tasks[i]
		left -= n.owed
		if n.on {
			bids += float64(n.bid)
			tasks++
		}
	}
	due := math.Inf(1)
	if !d.terms.OnDemand {
		due = d.terms.due()
	}
	at := now + max(0, left)/bids
	if span := due - now; at < due+8*moment(due) && (bids-tasks/100)*span <= left*(1+1e-9) {
		at = due
	}
	if at < due || d.terms.RunsOn {
		m.look(d, at)
	}
}

// watch has the tasks of d looked at one by one.
func (m *market) watch(d *contract) {
	d.watched = true
	m.watched++
}

// unwatch lets the tasks of d be in crowds again.
func (m *market) unwatch(d *contract) {
	if d.watched {
		d.watched = false
		m.watched--
	}
}

// purse looks at the money of the contract that is first, at an instant not after now.
func (m *market) purse(now float64) {
	l := heap.Pop(&m.looks).(look)
	d, at := l.of, min(l.at, now)
	d.look = math.NaN()
	if !d.watched {
		m.watch(d)
	}
	left, rate, extra, ends := float64(d.value)*1e3, 0.0, 0.0, math.Inf(1)
	for i := range d.tasks {
		n := &d.tasks[i]
		m.advance(n.host, at)
		m.bring(n)
		left -= n.owed
		extra += n.extra
		if n.on {
			rate += n.paying
			ends = min(ends, n.host.soonest())
		}
	}
	d.look = math.NaN() // whatever has changed on the way
	slack := at + 8*moment(at)
	switch gone := at + left/rate; {
	case left <= 1e-12*1e3*float64(d.value) || gone <= slack:
		m.spent(d, at)
		m.unsure = m.unsure || extra > 1e-9*1e3*float64(d.value)
	case rate > 0 || !math.IsInf(ends, 1):
		m.look(d, min(gone, max(ends, math.Nextafter(slack, math.Inf(1)))))
	}
}

// soonest returns when the next task leaves h by itself.
func (h *machine) soonest() float64 {
	at := h.over()
	for _, n := range h.alone {
		if n.rate > 0 {
			at = min(at, h.at+max(0, n.need-n.done)/n.rate)
		}
	}
	return at
}

// spent lets d, whose money is gone, bid nothing.
func (m *market) spent(d *contract, at float64) {
	m.unwatch(d)
	for i := range d.tasks {
		n := &d.tasks[i]
		if !n.on {
			continue
		}
		h := n.host
		m.takeOff(n)
		if h.ended != at {
			h.ended, h.freed = at, 0
		}
		h.freed += n.bid // who comes at this instant may have met it
		h.price -= n.bid
		m.prices.change(at, -n.bid)
		n.bid = 0
		m.weigh(n)
		m.stand(n)
		m.allocate(h)
	}
}

// stir has the money of those on h that are watched looked at again: what they pay may have
// changed.
func (m *market) stir(h *machine) {
	if m.watched == 0 {
		return
	}
	for _, n := range h.alone {
		if n.of.watched {
			m.look(n.of, h.at)
		}
	}
}

// leave gives tasks that bid nothing what is left of a host: equally, each up to its limit.
func (m *market) leave(idle []*task, free float64) {
	idle = slices.Clone(idle)
	slices.SortFunc(idle, func(a, b *task) int { return cmp.Compare(a.limit, b.limit) })
	for i, n := range idle {
		get := min(n.limit, free/float64(len(idle)-i))
		m.get(n, get)
		free -= get
	}
}
