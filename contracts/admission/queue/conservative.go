package queue

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/contracts/bidding"
)

// conservative gives each arriving request the earliest start that delays no other request
// (conservative backfilling; Mu'alem, Feitelson, "Utilization, Predictability, Workloads, and
// User Runtime Estimates in Scheduling the IBM SP2 with Backfilling", 2001).
//
// When a job ends early, each waiting request moves to the earliest start that leaves the other
// starts unchanged. Requests move in order of arrival. If a job exceeds its estimate or a host
// leaves, all requests are planned again, in the order of their old starts. Only then can a
// start become later.
//
// As in easy, processors are counted but not distinguished. A request that cannot be placed on
// distinct hosts at its start waits.
type conservative struct {
	tracker
	plan  plan
	slow  float64 // speed of the slowest host
	early bool    // whether processors became free earlier than expected
	again bool    // whether a host has left or arrived
	retry float64 // time of the next attempt at a start that was impossible
	order []*slot
	known []frontier
}

// pause is the minimum time, in seconds, between two plans in which a request would start when
// overdue jobs end. Overdue jobs are those that have exceeded their estimates. Without this
// minimum, the time between such plans would be the runtime of the request, which can be very
// short.
const pause = 1

// newConservative returns a conservative policy, which has no options.
func newConservative(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	return &conservative{tracker: newTracker(), retry: never, again: true}, decode(&struct{}{})
}

// Next implements [contracts.Policy].
func (p *conservative) Next() (at float64, last bool) { return min(p.next, p.retry), false }

// Handle implements [contracts.Policy].
func (p *conservative) Handle(now float64, e contracts.Event, m contracts.Market) []contracts.Action {
	switch e.Kind {
	case contracts.Submitted, contracts.Lost:
		p.drop(now, e.Contract)
		p.entered = e.Kind == contracts.Lost // more hosts may leave at this time; the event Freed follows
		return p.enter(e.Contract, m)
	case contracts.Overdue:
		p.drop(now, e.Contract)
		return p.refuse(e.Contract, contracts.TooLate)
	case contracts.Over:
		p.drop(now, e.Contract)
	case contracts.Came, contracts.Gone:
		p.again = true
		p.changedHosts()
	case contracts.Tick:
		p.next, p.retry = math.Inf(1), math.Inf(1) // Freed follows
	case contracts.Continue, contracts.Freed:
		if p.waits() {
			return nil
		}
		if i, yes := p.rejected(); yes {
			p.drop(now, i)
		}
		return p.pass(now, m)
	}
	return nil
}

// drop removes contract i from the plan.
func (p *conservative) drop(now float64, i int32) {
	s := p.slots[i]
	if s == nil {
		return
	}
	if delete(p.slots, i); s.runs && s.to <= now+soon {
		return
	}
	p.early = true
	if len(p.plan) > 0 {
		p.plan.add(max(now, s.from), s.to, s.nodes)
	}
}

// pass updates the plan and returns the next action that is due at now, if any.
func (p *conservative) pass(now float64, m contracts.Market) []contracts.Action {
	v, waiting := m.Hosts(), m.Waiting()
	p.look(v)
	if p.slow == 0 {
		p.slow = 1 / p.spans(&contracts.Request{Work: 1}, v)
	}
	again := p.again || p.slipped(now)
	switch {
	case again:
		p.replan(now, waiting)
	case p.early:
		p.plan.forget(now)
		for _, i := range waiting {
			if s := p.slots[i]; s != nil {
				p.plan.add(s.from, s.to, s.nodes)
				p.reserve(now, s)
			}
		}
	default:
		p.plan.forget(now)
	}
	p.early, p.again, p.next = false, false, math.Inf(1)
	earliest := now // earliest time of the next tick

	for _, i := range waiting {
		r, s := m.Request(i), p.slots[i]
		if p.hopeless(now, r) {
			p.drop(now, i)
			return p.refuse(i, contracts.TooLate)
		}
		if s == nil {
			s = &slot{span: r.Work / p.slow, nodes: r.Nodes, user: r.User}
			p.slots[i] = s
			p.reserve(now, s)
			s.first = s.from
		}
		switch {
		case s.from > now+soon:
			p.next = min(p.next, s.from)
		case p.start(r, v):
			first := s.first
			p.plan.add(s.from, s.to, s.nodes)
			a := p.admit(now, i, m, contracts.Measured("start", first))
			s = p.slots[i]
			p.plan.add(s.from, s.to, -s.nodes)
			return a
		case !again:
			p.retry = now + 2*soon // a job due to end now may not have ended yet
		default:
			earliest = now + pause
		}
	}
	p.next = max(p.next, earliest)
	return nil
}

// slipped reports whether a job has exceeded its estimate or a planned start has passed.
func (p *conservative) slipped(now float64) bool {
	for _, s := range p.slots {
		if s.runs && s.to < now-soon || !s.runs && s.from < now-soon {
			return true
		}
	}
	return false
}

// replan plans the waiting requests again, in the order of their old starts.
func (p *conservative) replan(now float64, waiting []int32) {
	p.running(&p.plan, now)
	p.order, p.known = p.order[:0], p.known[:0]
	for _, i := range waiting {
		if s := p.slots[i]; s != nil {
			p.order = append(p.order, s)
		}
	}
	slices.SortStableFunc(p.order, func(a, b *slot) int { return cmp.Compare(a.from, b.from) })
	for _, s := range p.order {
		// Requests only take processors. Therefore s cannot start before a request that was
		// planned earlier, is as short and needs no more processors.
		at, own := now, -1
		for k := range p.known {
			if f := &p.known[k]; f.nodes <= s.nodes {
				at = max(at, f.start(s.span))
			}
			if p.known[k].nodes == s.nodes {
				own = k
			}
		}
		if p.reserve(at, s); own < 0 {
			own = len(p.known)
			p.known = append(p.known, frontier{nodes: s.nodes})
		}
		p.known[own].add(s.span, s.from)
	}
}

// A frontier lists the latest starts of requests that need the same number of processors, for
// increasing lengths. Starts increase with the length, because a shorter request with a later
// start says more about longer ones.
type frontier struct {
	nodes         int
	spans, starts []float64
}

// start returns the latest start of a request of at most the given length, or -Inf.
func (f *frontier) start(span float64) float64 {
	i, found := slices.BinarySearch(f.spans, span)
	if found {
		return f.starts[i]
	}
	if i == 0 {
		return math.Inf(-1)
	}
	return f.starts[i-1]
}

// add adds a request.
func (f *frontier) add(span, start float64) {
	if start <= f.start(span) {
		return
	}
	i, _ := slices.BinarySearch(f.spans, span)
	j := i
	for j < len(f.starts) && f.starts[j] <= start {
		j++
	}
	f.spans, f.starts = slices.Replace(f.spans, i, j, span), slices.Replace(f.starts, i, j, start)
}

// reserve assigns to s the earliest start from now on.
func (p *conservative) reserve(now float64, s *slot) {
	s.from = p.plan.earliest(now, s.span, s.nodes)
	s.to = s.from + s.span
	p.plan.add(s.from, s.to, -s.nodes)
}
