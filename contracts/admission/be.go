package admission

import (
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/bidding"
)

// BestEffort admits a request if the spot price lets its minimum resource
// requirement be met on every host chosen; with none stated, always (BE, §3).
type BestEffort struct {
	bid        bidding.Strategy
	placements []contracts.Placement
}

func newBestEffort(decode func(any) error, bid bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	return &BestEffort{bid: bid}, decode(&struct{}{})
}

// Decide implements [contracts.Policy].
func (p *BestEffort) Decide(_ float64, r *contracts.Request, v contracts.View) contracts.Decision {
	var d contracts.Decision
	p.placements, d.Reason = p.bid.Place(r, v, p.placements[:0])
	if d.Reason != contracts.None {
		return d
	}
	for i := range p.placements {
		pl := &p.placements[i]
		b, c := pl.Bid.Float64(), v.Price(pl.Host).Float64()
		share := b / (b + c)
		d.Price += c
		d.SpotShare += share
		spec := v.Spec(pl.Host)
		processors := share * spec.CPUs
		if spec.Cap > 0 {
			processors = min(processors, spec.Cap)
		}
		if processors < r.Needs.Min.CPU {
			d.Reason = contracts.PriceTooHigh
		}
	}
	d.Price /= float64(len(p.placements))
	if d.Reason == contracts.None {
		d.Verdict, d.Placements = contracts.Accept, p.placements
	}
	return d
}
