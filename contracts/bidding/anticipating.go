package bidding

import (
	"bourse/contracts"
	"bourse/hosts"
	"bourse/market"
	"bourse/workloadgen/plugin"
)

// anticipating chooses bids that maximize the sum of the shares obtained, each weighted by the
// capacity of its host. It accounts for the effect of its own bids on the prices
// (bestResponse). An even split ignores this effect: on a cheap host, each additional dollar
// buys less than the previous dollar.
//
// If the optimal bids use fewer hosts than the request has nodes, the remaining nodes go to
// the next hosts in order of price. Each of them bids one nano-dollar per second.
type anticipating struct {
	best                bestResponse
	chosen              []hosts.ID
	bids, worth, prices []float64
}

// newBestResponse returns the strategy best-response, which has no options.
func newBestResponse(decode plugin.Decoder) (Strategy, error) {
	return new(anticipating), decode(&struct{}{})
}

// Place implements [Strategy].
func (s *anticipating) Place(r *contracts.Request, v contracts.View, out []contracts.Placement) ([]contracts.Placement, contracts.Reason) {
	all := *r
	all.Nodes = v.Fleet()
	s.chosen = v.Cheapest(&all, s.chosen[:0]) // hosts in order of price, with ties broken at random
	s.bids, s.worth, s.prices = s.bids[:0], s.worth[:0], s.prices[:0]
	for _, h := range s.chosen {
		s.bids = append(s.bids, 0)
		s.worth = append(s.worth, v.Spec(h).Capacity())
		s.prices = append(s.prices, contracts.Meets(h, r, v).Float64())
	}
	switch {
	case len(s.chosen) < r.Nodes:
		return out, contracts.Shortage(r, v)
	case r.NodeRate() == 0:
		return out, contracts.NoRate
	}
	s.best.bids(s.bids, s.worth, s.prices, r.Rate().Float64(), r.Nodes)
	free := r.Nodes // number of nodes without a positive bid
	for _, x := range s.bids {
		if x > 0 {
			free--
		}
	}
	for i, h := range s.chosen {
		bid, _ := market.Dollars(s.bids[i])
		if s.bids[i] == 0 {
			if free == 0 {
				continue
			}
			free--
		}
		out = append(out, contracts.Placement{Host: h, Bid: max(bid, 1)})
	}
	return out, contracts.None
}
