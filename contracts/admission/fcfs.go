package admission

import (
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/bidding"
)

// fcfs runs requests on one processor per node, in order of arrival. The first request waits
// until as many processors are free as it has nodes, and all others wait behind it. It never
// overtakes, so a wide request can leave processors idle; see easy.
type fcfs struct {
	chooser
	free
}

// newFCFS returns a fcfs policy, which has no options.
func newFCFS(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	return Queued(&fcfs{}, Order{}), decode(&struct{}{})
}

// Decide implements [contracts.Decider].
func (p *fcfs) Decide(_ float64, r *contracts.Request, v contracts.View) contracts.Decision {
	p.see(v)
	switch {
	case p.start(r, v, &p.chooser):
		return accept(p.first(r))
	case !everHolds(r, v):
		return contracts.Decision{Reason: contracts.TooFewHosts}
	}
	return contracts.Decision{Verdict: contracts.Defer}
}
