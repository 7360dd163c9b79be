package admission

import (
	"math"
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// Easy is [FCFS] in which others may overtake the first, as long as by their
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
type Easy struct {
	fcfs    FCFS
	waits   bool      // one has been deferred in this pass
	shadow  float64   // instant at which that one can start
	surplus int       // hosts free then, beyond those that it takes
	ends    []float64 // scratch
}

func newEasy(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	p := new(Easy)
	return Queued(p, Order{Scan: p}), decode(&struct{}{})
}

// Scan implements [Scanner].
func (p *Easy) Scan() { p.waits = false }

// Decide implements [contracts.Decider].
func (p *Easy) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	d := p.fcfs.Decide(now, r, v)
	switch {
	case !p.waits && d.Verdict == contracts.Defer:
		p.waits = true
		p.reserve(now, r, v)
	case p.waits && d.Verdict == contracts.Accept && !p.harmless(now, r, v):
		return contracts.Decision{Verdict: contracts.Defer}
	}
	return d
}

// harmless reports whether r, on the hosts just chosen, does not delay the first.
func (p *Easy) harmless(now float64, r *contracts.Request, v contracts.View) bool {
	return r.Nodes <= p.surplus || now+r.Work/p.fcfs.slowest(v) <= p.shadow+sharing.Tick
}

// reserve finds when r can start, and what it leaves.
func (p *Easy) reserve(now float64, r *contracts.Request, v contracts.View) {
	p.ends = p.ends[:0]
	for h := range hosts.ID(v.Fleet()) {
		if at := frees(now, h, v); at > now {
			p.ends = append(p.ends, at)
		}
	}
	slices.Sort(p.ends)
	free := v.Fleet() - len(p.ends)
	p.shadow, p.surplus = math.Inf(1), 0
	for i, at := range p.ends {
		if free+i+1 >= r.Nodes {
			p.shadow = at
			for i++; i < len(p.ends) && p.ends[i] <= at+sharing.Tick; i++ {
			}
			p.surplus = free + i - r.Nodes
			return
		}
	}
}

// frees returns the instant at which h has a free processor by the estimates of
// what runs there, now if it has one. A task that has outlived its estimate is
// taken to end the next moment. Of a host that is away nobody knows: it is +Inf.
func frees(now float64, h hosts.ID, v contracts.View) float64 {
	if v.Away(h) {
		return math.Inf(1)
	}
	on, spec := v.On(h), v.Spec(h)
	if len(on) < max(1, int(spec.CPUs)) {
		return now
	}
	first := math.Inf(1)
	for i := range on {
		s := &on[i]
		first = min(first, now+max(0, s.Left(now, v.Contract(s.Contract)))/s.Rate)
	}
	return max(first, math.Nextafter(now, math.Inf(1)))
}
