package admission

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// easy is fcfs in which others may overtake the first, as long as by their
// estimates they do not delay it (EASY backfilling). When the first can start is
// known from the estimates of what runs, and so how many processors it then
// leaves; another starts if it ends by then, or needs no more than those.
//
// Processors are counted, not told apart: where hosts differ in speed or memory
// the first may find its processors a little later than was thought.
//
// Reference: Lifka, "The ANL/IBM SP scheduling system"; Mu'alem, Feitelson,
// "Utilization, Predictability, Workloads, and User Runtime Estimates in
// Scheduling the IBM SP2 with Backfilling".
type easy struct {
	fcfs    fcfs
	waits   bool    // one has been deferred in this pass
	shadow  float64 // instant at which that one can start
	surplus int     // hosts free then, beyond those that it takes
	ends    ends
}

func newEasy(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	p := new(easy)
	return Queued(p, Order{Scan: p}), decode(&struct{}{})
}

// Scan implements [Scanner].
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
	switch {
	case (!p.waits || p.harmless(now, r, p.fcfs.fastest)) && p.fcfs.start(r, v, &p.fcfs.chooser):
		if p.waits && !p.harmless(now, r, p.fcfs.slowest(v)) {
			return contracts.Decision{Verdict: contracts.Defer}
		}
		return accept(p.fcfs.first(r))
	case !everHolds(r, v):
		return contracts.Decision{Reason: contracts.TooFewHosts}
	case !p.waits:
		p.waits = true
		p.reserve(now, r, v)
	}
	return contracts.Decision{Verdict: contracts.Defer}
}

// Defers reports whether r, which waits behind the first, would be deferred: it is too wide for
// the hosts that are free, or would delay the first. Within a pass no more become free. What
// Decide has to look up it does not tell.
func (p *easy) Defers(now float64, r *contracts.Request, fleet int) bool {
	return p.waits && (r.Nodes > p.fcfs.count || !p.harmless(now, r, p.fcfs.fastest)) &&
		r.Nodes <= fleet && r.Needs.Min.Resources.Zero()
}

// harmless reports whether r, on hosts of that speed, does not delay the first.
func (p *easy) harmless(now float64, r *contracts.Request, speed float64) bool {
	return r.Nodes <= p.surplus || now+r.Work/speed <= p.shadow+sharing.Tick
}

// reserve finds when r can start, and what it leaves.
func (p *easy) reserve(now float64, r *contracts.Request, v contracts.View) {
	p.shadow, p.surplus = math.Inf(1), 0
	free := v.Fleet() - p.ends.hosts
	for i, e := range p.ends.order {
		if free += e.hosts; free < r.Nodes {
			continue
		}
		// What has outlived its estimate is taken to end the next moment.
		p.shadow = max(e.at, math.Nextafter(now, math.Inf(1)))
		for _, e := range p.ends.order[i+1:] {
			if e.at > p.shadow+sharing.Tick {
				break
			}
			free += e.hosts
		}
		p.surplus = free - r.Nodes
		return
	}
}

// Ends are when hosts have a free processor by the estimates of what runs there. They
// stand until something changes on a host: what runs there runs at one speed till then.
type ends struct {
	of    []float64 // by host, freeNow if it has one
	order []end     // by instant: those of one job end together, so they are few
	hosts int       // in order
	last  int       // where in order was found last
}

// An end is an instant at which so many hosts have a processor that they have not now.
type end struct {
	at    float64
	hosts int
}

var freeNow = math.Inf(-1)

// move notes that h has a free processor from at on.
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

// find returns where at is in the order, or would be: where the last was, if the hosts of
// one job are asked about one after another.
func (e *ends) find(at float64) (i int, there bool) {
	if e.last < len(e.order) && e.order[e.last].at == at {
		return e.last, true
	}
	e.last, there = slices.BinarySearchFunc(e.order, at, func(x end, at float64) int { return cmp.Compare(x.at, at) })
	return e.last, there
}

// frees returns the instant at which a processor of h, which has none free, is free by
// the estimates of what runs there. Of a host that is away nobody knows: it is +Inf.
func frees(now float64, h hosts.ID, v contracts.View) float64 {
	if v.Away(h) {
		return math.Inf(1)
	}
	first := math.Inf(1)
	on := v.On(h)
	for i := range on {
		s := &on[i]
		switch left := s.Left(now, v.Contract(s.Contract)); {
		case left <= 0:
			first = min(first, now)
		case s.Rate > 0:
			first = min(first, now+left/s.Rate)
		}
	}
	return first
}
