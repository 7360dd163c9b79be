package libra

import (
	"math"

	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// A bound limits, until the next event on a host with tasks, the share that the host can
// still give to another task. It lets a policy reject a host without reading its tasks.
//
// Between two events a task works at a constant rate ρ, so its need changes from w/d to
// (w - ρt)/(d - t) in t seconds. If this function falls, it is concave, so it stays above the
// line that reaches 0 when the work is done, which falls by ρ/d per second. The capacity that no
// task needs therefore grows by at most Σ ρ/d per second.
type bound struct {
	at   float64 // time at which it was computed, s
	free float64 // most work per second that no task needs at time at
	gain float64 // most growth of free per second
	most float64 // work per second that one task can use; +Inf if it can use all of the host
	due  float64 // earliest deadline of a task
	till float64 // time until which no task needs more than one task can use
	over float64 // work per second that another task must need, or it is late by less than the first: see [boundOf]
}

// unknown is the bound that excludes nothing.
var unknown = bound{free: math.Inf(1), due: math.Inf(1), till: math.Inf(1), over: math.Inf(-1)}

// margin is added to free, in processors. It covers rounding, [sharing.Sliver], and work up to
// a [sharing.Tick] in a time of at least a second.
const margin = 1e-7 + sharing.Tick

// boundOf returns the bound of h at now.
//
// If the task with the first deadline needs s, more than the most m that one task can use of n
// processors, its deadline delay is at least δ = s/m > 1. For the same delay of all tasks, they
// must need δn in total at least, as the method lemmas of projection shows; over is what is
// missing. A need that falls stays below its present value, or the task keeps its share. The
// sum of the needs that grow, each by (need - ρ)/(d - t) per second, grows slower than δn if it
// does now, because no deadline is earlier.
func boundOf(now float64, v contracts.View, h hosts.ID) bound {
	on, spec := v.On(h), v.Spec(h)
	n := sharing.NodeOf(spec)
	b := bound{at: now, free: (n.Size + margin) * spec.Speed, most: math.Inf(1), due: math.Inf(1), till: math.Inf(1), over: math.Inf(-1)}
	if n.Most < n.Size {
		b.most = n.Most * spec.Speed
	}
	var first, pace, total, growth float64 // first and pace are the need and the rate of the task with the first deadline
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
		case b.most < math.Inf(1): // it grows to most at this time
			b.till = min(b.till, now+(b.most*span-left)/(b.most-s.Rate))
		}
	}
	if factor := n.Size / n.Most; first > b.most && float64(len(on)+1) >= factor && factor*(first-pace) >= growth {
		b.over = factor*first - total - margin*spec.Speed
	}
	return b
}

// full reports whether the needs on the host and of a task with the given work, due in span
// seconds, certainly exceed the host at now.
func (b *bound) full(now, work, span float64) bool {
	return span >= 1 && work > (b.free+b.gain*(now-b.at))*span
}
