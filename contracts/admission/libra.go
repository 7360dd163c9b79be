package admission

import (
	"math"
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// sliver is the excess over a host that is none, in processors.
const sliver = sharing.Sliver

// noShare says that too few hosts have the share that it needs.
const noShare contracts.Reason = "too few hosts have the share it needs"

// Libra admits a request if enough hosts can give it what it needs by its
// deadline without taking it from others (Risk, §3.1): a host is suitable if the
// needs of its tasks and the new one do not sum to more than it has. It takes
// those that are then left with least, the best fit.
//
// References: Yeo, Buyya, "Managing Risk of Inaccurate Runtime Estimates for
// Deadline Constrained Job Admission Control in Clusters" (Risk), and the SLA
// paper.
type Libra struct{ chooser }

func newLibra(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Decider, error) {
	return &Libra{}, decode(&struct{}{})
}

// Decide implements [contracts.Decider].
func (p *Libra) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	p.found = p.found[:0]
	for h := range hosts.ID(v.Fleet()) {
		if left, ok := after(now, r, v, h); ok && holds(h, r, v) {
			p.add(h, fit(left))
		}
	}
	return p.choose(r, noShare)
}

// fit returns the rank of a host with so many processors left: the best fit has
// least, and differences up to 1e-9 are none.
func fit(left float64) float64 { return math.Round(left / sliver) }

// after returns the processors of h that nobody needs once it has a task of r,
// and whether there are enough.
func after(now float64, r *contracts.Request, v contracts.View, h hosts.ID) (left float64, ok bool) {
	spec := v.Spec(h)
	node := sharing.NodeOf(spec)
	need := sharing.Required(r.Work/spec.Speed, r.Due()-now, 0)
	left = node.Size - needs(now, v, h) - need
	return left, left >= -sliver && need <= node.Most+sliver
}

// needs returns what the tasks on h need together, in processors; +Inf if the
// deadline of one has passed.
func needs(now float64, v contracts.View, h hosts.ID) float64 {
	sum, on, speed := 0.0, v.On(h), v.Spec(h).Speed
	for i := range on {
		sum += sharing.RequiredBy(now, &on[i], v.Contract(on[i].Contract), speed)
	}
	return sum
}
