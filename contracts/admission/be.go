package admission

import (
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/hosts"
	"bourse/market"
)

// BestEffort admits a request if the spot price lets its minimum resource
// requirement be met on every host chosen; with none stated, always (BE, §3).
type BestEffort struct {
	bid        bidding.Strategy
	placements []contracts.Placement
}

func newBestEffort(decode func(any) error, bid bidding.Strategy, _ *rand.Rand) (contracts.Decider, error) {
	return &BestEffort{bid: bid}, decode(&struct{}{})
}

// Decide implements [contracts.Decider].
func (p *BestEffort) Decide(_ float64, r *contracts.Request, v contracts.View) contracts.Decision {
	var d contracts.Decision
	p.placements, d.Reason = p.bid.Place(r, v, p.placements[:0])
	if d.Reason != contracts.None {
		return d
	}
	for i := range p.placements {
		pl := &p.placements[i]
		b, c := pl.Bid.Float64(), v.Price(pl.Host).Float64()
		share := float64(market.Quote(b, c))
		d.Price += c
		d.SpotShare += share
		if least := r.Needs.Min.CPU; least > 0 && processors(share, v.Spec(pl.Host)) < least {
			d.Reason = contracts.PriceTooHigh
		}
	}
	d.Price /= float64(len(p.placements))
	if d.Reason == contracts.None {
		d.Verdict, d.Placements = contracts.Accept, p.placements
	}
	return d
}

// processors is what one task gets for a share of a host.
func processors(share float64, spec *hosts.Spec) float64 {
	if spec.Cap > 0 {
		return min(share*spec.CPUs, spec.Cap)
	}
	return share * spec.CPUs
}
