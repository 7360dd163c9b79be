package bidding

import (
	"bourse/contracts"
	"bourse/hosts"
	"bourse/market"
	"bourse/workloadgen/plugin"
)

// anticipating bids what maximises the sum of shares obtained, weighed by the
// capacity of each host, knowing what its own bids do to the price
// (bestResponse). Where that is worth fewer hosts than the request has nodes,
// the other nodes go to the next hosts in order, at one nano-dollar per second.
type anticipating struct {
	best                bestResponse
	chosen              []hosts.ID
	bids, worth, prices []float64
}

func newBestResponse(decode plugin.Decoder) (Strategy, error) {
	return new(anticipating), decode(&struct{}{})
}

// Place implements [Strategy].
func (s *anticipating) Place(r *contracts.Request, v contracts.View, out []contracts.Placement) ([]contracts.Placement, contracts.Reason) {
	all := *r
	all.Nodes = v.Fleet()
	s.chosen = v.Cheapest(&all, s.chosen[:0]) // so that ties are broken at random
	s.bids, s.worth, s.prices = s.bids[:0], s.worth[:0], s.prices[:0]
	for _, h := range s.chosen {
		s.bids = append(s.bids, 0)
		s.worth = append(s.worth, v.Spec(h).Capacity())
		s.prices = append(s.prices, v.Price(h).Float64())
	}
	switch {
	case len(s.chosen) < r.Nodes:
		return out, contracts.TooFewHosts
	case r.NodeRate() == 0:
		return out, contracts.NoRate
	}
	s.best.bids(s.bids, s.worth, s.prices, r.Rate().Float64(), r.Nodes)
	free := r.Nodes // nodes for which no bid is worth it
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
