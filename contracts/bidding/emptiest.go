package bidding

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/hosts"
	"bourse/workloadgen/plugin"
)

// emptiest bids b = v/(d n) on each of the n eligible hosts with the fewest tasks. Ties are
// broken at random. It ignores prices.
type emptiest struct {
	rng    *rand.Rand
	chosen []hosts.ID
}

// newEmptiest returns a constructor of the strategy emptiest, which draws from rng and has no
// options.
func newEmptiest(rng *rand.Rand) func(plugin.Decoder) (Strategy, error) {
	return func(decode plugin.Decoder) (Strategy, error) { return &emptiest{rng: rng}, decode(&struct{}{}) }
}

// Place implements [Strategy].
func (s *emptiest) Place(r *contracts.Request, v contracts.View, out []contracts.Placement) ([]contracts.Placement, contracts.Reason) {
	s.chosen = s.chosen[:0]
	for h := range hosts.ID(v.Fleet()) {
		if contracts.Eligible(h, r, v) {
			s.chosen = append(s.chosen, h)
		}
	}
	s.rng.Shuffle(len(s.chosen), func(i, j int) { s.chosen[i], s.chosen[j] = s.chosen[j], s.chosen[i] })
	slices.SortStableFunc(s.chosen, func(a, b hosts.ID) int { return cmp.Compare(len(v.On(a)), len(v.On(b))) })
	return evenly(r, v, s.chosen[:min(r.Nodes, len(s.chosen))], out)
}
