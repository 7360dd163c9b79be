package bidding

import (
	"math/rand/v2"

	"bourse/contracts"
	"bourse/hosts"
	"bourse/workloadgen/plugin"
)

// random bids b = v/(d n) on each of n eligible hosts, which are drawn without replacement. It
// ignores prices.
type random struct {
	rng    *rand.Rand
	order  []hosts.ID // permutation of the fleet, of which each call shuffles as many elements as necessary
	chosen []hosts.ID
}

// newRandom returns a constructor of the strategy random, which draws from rng and has no
// options.
func newRandom(rng *rand.Rand) func(plugin.Decoder) (Strategy, error) {
	return func(decode plugin.Decoder) (Strategy, error) { return &random{rng: rng}, decode(&struct{}{}) }
}

// Place implements [Strategy].
func (s *random) Place(r *contracts.Request, v contracts.View, out []contracts.Placement) ([]contracts.Placement, contracts.Reason) {
	for h := len(s.order); h < v.Fleet(); h++ {
		s.order = append(s.order, hosts.ID(h))
	}
	s.chosen = s.chosen[:0]
	// Draw hosts by a partial shuffle (Fisher-Yates), which stops when enough eligible hosts
	// are found.
	for i := 0; i < len(s.order) && len(s.chosen) < r.Nodes; i++ {
		j := i + s.rng.IntN(len(s.order)-i)
		s.order[i], s.order[j] = s.order[j], s.order[i]
		if h := s.order[i]; contracts.Eligible(h, r, v) {
			s.chosen = append(s.chosen, h)
		}
	}
	return evenly(r, v, s.chosen, out)
}
