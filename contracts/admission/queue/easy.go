package queue

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/bidding"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// easy works like fcfs, but a request may overtake the first waiting request if, according to
// the estimates, this does not delay the first request (EASY backfilling).
//
// The estimates of the running jobs determine when the first request can start and how many
// hosts will then remain free. Another request may start immediately if it ends by that time,
// or if the hosts that then remain free are sufficient for it. Such requests use processors
// that would be idle under fcfs.
//
// Hosts with a free processor, or free processors for a packed request, are counted but not
// distinguished. If hosts differ in speed or memory, the first request may therefore start
// slightly later than computed.
//
// References: Lifka, "The ANL/IBM SP scheduling system"; Mu'alem, Feitelson, "Utilization,
// Predictability, Workloads, and User Runtime Estimates in Scheduling the IBM SP2 with
// Backfilling".
type easy struct {
	fcfs    fcfs
	waits   bool    // whether a request has been deferred in this pass
	shadow  float64 // time at which that request can start
	surplus int     // number of hosts free at that time in addition to those that the request needs
	ends    ends
}

// newEasy returns an easy policy, which has no options.
func newEasy(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	p := new(easy)
	return admission.Queued(p, admission.Order{Scan: p}), decode(&struct{}{})
}

// Scan implements [admission.Scanner].
func (p *easy) Scan() { p.waits = false }

// Decide implements [contracts.Decider].
func (p *easy) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	if len(p.ends.of) != v.Fleet() {
		p.ends = ends{of: slices.Repeat([]float64{freeNow}, v.Fleet())}
	}
	for _, h := range p.fcfs.see(v) {
		at := freeNow
		if !p.fcfs.has(h) {
			at = frees(now, h, v)
		}
		p.ends.move(h, at)
	}
	// Before searching for hosts, exclude a request that would delay the first request even on
	// the fastest host. After the search, repeat the check with the speed of the slowest host
	// found.
	switch {
	case (!p.waits || p.harmless(now, r, p.fcfs.fastest)) && p.fcfs.start(r, v):
		if p.waits && !p.harmless(now, r, p.fcfs.slowest(v)) {
			return contracts.Decision{Verdict: contracts.Defer}
		}
		return p.fcfs.accept(r)
	case !everHolds(r, v):
		return contracts.Decision{Reason: contracts.TooFewHosts}
	case !p.waits:
		p.waits = true
		p.reserve(now, r, v)
	}
	return contracts.Decision{Verdict: contracts.Defer}
}

// Defers reports whether r, which waits behind the first request, would certainly be deferred,
// because it needs more hosts than are free or would delay the first request. No further hosts
// become free during a pass. If the answer depends on details of hosts, Defers returns false,
// and Decide determines the answer.
func (p *easy) Defers(now float64, r *contracts.Request, fleet int) bool {
	free := p.fcfs.count
	if r.Packed {
		free = p.fcfs.slots
	}
	return p.waits && (r.Nodes > free || !p.harmless(now, r, p.fcfs.fastest)) &&
		r.Nodes <= fleet && r.Needs.Min.Resources.Zero()
}

// harmless reports whether r, on hosts of the given speed, does not delay the first request.
func (p *easy) harmless(now float64, r *contracts.Request, speed float64) bool {
	return r.Nodes <= p.surplus || now+r.Work/speed <= p.shadow+sharing.Tick
}

// reserve computes when r can start, and how many hosts (or processors, for a packed request)
// then remain free.
func (p *easy) reserve(now float64, r *contracts.Request, v contracts.View) {
	p.shadow, p.surplus = math.Inf(1), 0
	free, order := v.Fleet()-p.ends.hosts, p.ends.order
	if r.Packed {
		free, order = p.fcfs.slots, processorEnds(now, v)
	}
	// Process the ends in order of time until enough hosts are free.
	for i, e := range order {
		if free += e.hosts; free < r.Nodes {
			continue
		}
		// A job that has exceeded its estimate is assumed to end immediately.
		p.shadow = max(e.at, math.Nextafter(now, math.Inf(1)))
		for _, e := range order[i+1:] {
			if e.at > p.shadow+sharing.Tick {
				break
			}
			free += e.hosts
		}
		p.surplus = free - r.Nodes
		return
	}
}

// processorEnds returns an end for each processor that runs a job, sorted by time.
func processorEnds(now float64, v contracts.View) (order []end) {
	for h := range hosts.ID(v.Fleet()) {
		if v.Unavailable(h) {
			continue
		}
		on := v.On(h)
		for i := range on {
			if at := endOf(now, &on[i], v); !math.IsInf(at, 1) {
				order = append(order, end{at, 1})
			}
		}
	}
	slices.SortFunc(order, func(a, b end) int { return cmp.Compare(a.at, b.at) })
	return order
}

// ends stores, for each host, the time at which it will have a free processor, according to
// the estimates of its running jobs. A stored time remains valid until something changes on
// the host, because until then the jobs run at constant speed.
type ends struct {
	of    []float64 // end of each host; freeNow if the host has a free processor
	order []end     // ends sorted by time; jobs on several hosts end together, so there are few entries
	hosts int       // number of hosts counted in order
	last  int       // index in order found by the last search
}

// An end is a time at which the given number of hosts, none of which has a free processor now,
// will have one. For a packed request, it is the time at which a single processor becomes
// free.
type end struct {
	at    float64
	hosts int
}

// freeNow marks a host that has a free processor now. It sorts before all other times.
var freeNow = math.Inf(-1)

// move records that h has a free processor from time at on.
func (e *ends) move(h hosts.ID, at float64) {
	was := e.of[h]
	if was == at {
		return
	}
	e.of[h] = at
	if was != freeNow {
		e.hosts--
		i, _ := e.find(was)
		if e.order[i].hosts--; e.order[i].hosts == 0 {
			e.order = slices.Delete(e.order, i, i+1)
		}
	}
	if at != freeNow {
		e.hosts++
		i, there := e.find(at)
		if !there {
			e.order = slices.Insert(e.order, i, end{at: at})
		}
		e.order[i].hosts++
	}
}

// find returns the index of at in order, or the index at which it would be inserted. It first
// tries the last index found, because callers often ask for the hosts of one job
// consecutively.
func (e *ends) find(at float64) (i int, there bool) {
	if e.last < len(e.order) && e.order[e.last].at == at {
		return e.last, true
	}
	e.last, there = slices.BinarySearchFunc(e.order, at, func(x end, at float64) int { return cmp.Compare(x.at, at) })
	return e.last, there
}

// frees returns the time at which h, which has no free processor, will have one according to
// the estimates of its running jobs. For an absent host, it returns +Inf, because the time of
// the host's return is unknown.
func frees(now float64, h hosts.ID, v contracts.View) float64 {
	if v.Unavailable(h) {
		return math.Inf(1)
	}
	first := math.Inf(1)
	on := v.On(h)
	for i := range on {
		first = min(first, endOf(now, &on[i], v))
	}
	return first
}

// endOf returns the time at which task s ends according to its estimate, or +Inf if it makes no
// progress.
func endOf(now float64, s *contracts.Allocation, v contracts.View) float64 {
	switch left := s.Left(now, v.Contract(s.Contract)); {
	case left <= 0:
		return now
	case s.Rate > 0:
		return now + left/s.Rate
	}
	return math.Inf(1)
}
