package verify

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// Since version 2 of the rules, a contract that has spent its value has no weight in the
// auction. It bids zero and receives only the capacity that the bidders leave unused. No
// contract pays more than it bids. If a contract paid its full bids, its money would be spent
// at a certain time. The market first checks the money at that time. From then on, the
// contract's tasks are handled individually, and the time of the check is recomputed after
// every change on one of their hosts.

// A look is a scheduled check of a contract's money. A look is ignored if the contract's memory
// has been reused or if the check has been rescheduled.
type look struct {
	at float64
	id int64
	of *contract
}

// looks is a heap ordered by time.
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

// look schedules a check of the money of d.
func (m *market) look(d *contract, at float64) {
	if d.look != at {
		d.look = at
		heap.Push(&m.looks, look{at, d.id, d})
	}
}

// nextLook returns the time of the next check, or +Inf if none is scheduled.
func (m *market) nextLook() float64 {
	for len(m.looks) > 0 {
		if l := &m.looks[0]; l.of.id == l.id && l.of.look == l.at {
			return l.at
		}
		heap.Pop(&m.looks)
	}
	return math.Inf(1)
}

// lasts schedules the check of the money of d after a change to its bids. If bids are planned
// to last until the deadline, lasts tolerates rounding errors: a hundredth of a nano-dollar
// per second and task, and one part in 10^9.
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

// watch makes the market handle the tasks of d individually.
func (m *market) watch(d *contract) {
	d.watched = true
	m.watched++
}

// unwatch lets the tasks of d join crowds again.
func (m *market) unwatch(d *contract) {
	if d.watched {
		d.watched = false
		m.watched--
	}
}

// purse checks the money of the first contract in looks. The time of the check must not be
// after now.
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
	d.look = math.NaN() // no check is scheduled unless one is set below
	slack := at + 8*moment(at)
	switch gone := at + left/rate; {
	case left <= 1e-12*1e3*float64(d.value) || gone <= slack:
		m.spent(d, at)
		m.unsure = m.unsure || extra > 1e-9*1e3*float64(d.value)
	case rate > 0 || !math.IsInf(ends, 1):
		m.look(d, min(gone, max(ends, math.Nextafter(slack, math.Inf(1)))))
	}
}

// soonest returns the time at which the next task of h will be done.
func (h *machine) soonest() float64 {
	at := h.over()
	for _, n := range h.alone {
		if n.rate > 0 {
			at = min(at, h.at+max(0, n.need-n.done)/n.rate)
		}
	}
	return at
}

// spent sets the bids of d to zero, because the money of d is spent.
func (m *market) spent(d *contract, at float64) {
	m.unwatch(d)
	for i := range d.tasks {
		n := &d.tasks[i]
		if !n.on {
			continue
		}
		h := n.host
		m.takeOff(n)
		h.free(n, at)
		m.rebid(n, at, 0)
		m.weigh(n)
		m.stand(n)
		m.allocate(h)
	}
}

// stir schedules new checks for the watched contracts on h, because their payments may have
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

// leave divides the free processors of a host equally among the tasks with a bid of zero. No
// task receives more than its limit.
func (m *market) leave(idle []*task, free float64) {
	idle = slices.Clone(idle)
	slices.SortFunc(idle, func(a, b *task) int { return cmp.Compare(a.limit, b.limit) })
	for i, n := range idle {
		get := min(n.limit, free/float64(len(idle)-i))
		m.get(n, get)
		free -= get
	}
}
