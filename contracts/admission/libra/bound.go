package libra

import (
	"math"

	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// A bound is an upper limit on the share that a host with tasks can give to another task. It
// is valid until the next event on the host. With the bound, a policy can reject a host
// without reading its tasks.
//
// Between two events a task works at a constant rate ρ. In t seconds its need therefore changes
// from w/d to (w - ρt)/(d - t), where w is its remaining work and d the time until its
// deadline. If this need decreases, it is a concave function of time, and therefore stays above
// the straight line that reaches 0 when the work is done. That line decreases by ρ/d per
// second. The capacity that no task needs therefore grows by at most Σ ρ/d per second.
type bound struct {
	at   float64 // time at which the bound was computed, s
	free float64 // upper limit on the work per second that no task needs at time at
	gain float64 // upper limit on the increase of free per second
	most float64 // maximum work per second that one task can use; +Inf if it can use the whole host
	due  float64 // earliest deadline of a task
	till float64 // time before which no task needs more processors than one task can use
	over float64 // need, in work per second, below which another task has a smaller delay than the first task: see [boundOf]
}

// unknown is a bound that excludes no task.
var unknown = bound{free: math.Inf(1), due: math.Inf(1), till: math.Inf(1), over: math.Inf(-1)}

// margin is added to free, in processors. It covers rounding, [sharing.Sliver], and the work
// of a [sharing.Tick] over at least one second.
const margin = 1e-7 + sharing.Tick

// boundOf returns the bound of h at now.
//
// Let n be the number of processors and m the maximum number that one task can use. If the task
// with the earliest deadline needs s > m, its deadline delay is at least δ = s/m > 1. All tasks
// can have the same delay only if their needs add up to at least δn, as the method lemmas of
// projection shows. The field over is the missing amount. A need that decreases stays below its
// present value, or the task keeps its share. The other needs each increase by (need - ρ)/(d -
// t) per second. If the sum of these needs grows more slowly than δn now, it also grows more
// slowly later, because no other deadline is earlier.
func boundOf(now float64, v contracts.View, h hosts.ID) bound {
	on, spec := v.On(h), v.Spec(h)
	n := sharing.NodeOf(spec)
	b := bound{at: now, free: (n.Size + margin) * spec.Speed, most: math.Inf(1), due: math.Inf(1), till: math.Inf(1), over: math.Inf(-1)}
	if n.Most < n.Size {
		b.most = n.Most * spec.Speed
	}
	var first, pace, total, growth float64 // first and pace are the need and the rate of the task with the earliest deadline
	for i := range on {
		s := &on[i]
		c := v.Contract(s.Contract)
		left, span := s.Left(now, c), c.Due()-now
		need := sharing.Required(left/spec.Speed, span, s.Need) * spec.Speed
		if b.free -= need; left > sharing.Tick*spec.Speed {
			b.gain += s.Rate / span
		}
		if c.Due() < b.due {
			b.due, first, pace = c.Due(), need, s.Rate
		}
		if need <= s.Rate {
			total += max(need, s.Need*spec.Speed)
			continue
		}
		total, growth = total+need, growth+need-s.Rate
		switch {
		case need > b.most:
			b.till = now
		case b.most < math.Inf(1): // b.till is the time at which the need of the task reaches b.most
			b.till = min(b.till, now+(b.most*span-left)/(b.most-s.Rate))
		}
	}
	if factor := n.Size / n.Most; first > b.most && float64(len(on)+1) >= factor && factor*(first-pace) >= growth {
		b.over = factor*first - total - margin*spec.Speed
	}
	return b
}

// full reports whether the needs on the host at now, together with the need of a new task,
// certainly exceed the host. The new task has the given work, which is due in span seconds.
func (b *bound) full(now, work, span float64) bool {
	return span >= 1 && work > (b.free+b.gain*(now-b.at))*span
}
