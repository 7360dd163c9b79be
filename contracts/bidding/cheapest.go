package bidding

import (
	"slices"

	"bourse/contracts"
	"bourse/hosts"
	"bourse/workloadgen/plugin"
)

// cheapest bids b = v/(d n) on each of the n hosts with the lowest spot prices. Here v is the
// budget, d the deadline and n the number of nodes.
type cheapest struct{ chosen []hosts.ID }

// newCheapest returns the strategy cheapest, which has no options.
func newCheapest(decode plugin.Decoder) (Strategy, error) {
	return new(cheapest), decode(&struct{}{})
}

// Place implements [Strategy].
func (s *cheapest) Place(r *contracts.Request, v contracts.View, out []contracts.Placement) ([]contracts.Placement, contracts.Reason) {
	s.chosen = v.Cheapest(r, s.chosen[:0])
	return evenly(r, v, s.chosen, out)
}

// evenly places the same bid on every chosen host.
func evenly(r *contracts.Request, v contracts.View, chosen []hosts.ID, out []contracts.Placement) ([]contracts.Placement, contracts.Reason) {
	if len(chosen) < r.Nodes {
		return out, contracts.Shortage(r, v)
	}
	bid := r.NodeRate()
	if bid == 0 {
		return out, contracts.NoRate
	}
	n := len(out)
	out = slices.Grow(out, len(chosen))[:n+len(chosen)]
	for i, h := range chosen {
		out[n+i] = contracts.Placement{Host: h, Bid: bid}
	}
	return out, contracts.None
}
