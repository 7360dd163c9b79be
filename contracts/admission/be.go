package admission

import (
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/hosts"
	"bourse/market"
)

// priceTooHigh means that the request would receive less than its minimum requirement at the
// spot price.
const priceTooHigh contracts.Reason = "price too high"

// BestEffort admits a request if, at the spot price of processors, its minimum resource
// requirement is met on every chosen host. A request without such a requirement is always
// admitted if it can be placed (BE, §3). BestEffort promises nothing about deadlines. It is the
// baseline for the other market policies.
type BestEffort struct {
	bid        bidding.Strategy
	placements []contracts.Placement

	// The following fields describe the most recently decided request.
	price   float64 // mean spot price of the chosen hosts, $/s
	share   float64 // sum of b/(b+c) over the chosen hosts
	numbers contracts.Numbers
}

// newBestEffort returns a best-effort policy, which has no options.
func newBestEffort(decode func(any) error, bid bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	return Immediate(&BestEffort{bid: bid}), decode(&struct{}{})
}

// Decide implements [contracts.Decider]. If held resources have a floor price, Decide rejects
// a node that bids less than the floor price of all resources that the node may use. The
// broker checks other floor prices. Decide reports two numbers: price, the mean spot price of
// the chosen hosts in $/s, and spot_share, the sum of b/(b+c) over the chosen hosts.
func (p *BestEffort) Decide(_ float64, r *contracts.Request, v contracts.View) contracts.Decision {
	var d contracts.Decision
	p.placements, d.Reason = p.bid.Place(r, v, p.placements[:0])
	if d.Reason != contracts.None {
		return d
	}
	p.price, p.share = 0, 0
	several := r.ClaimsHeld(v.Priced())
	for i := range p.placements {
		pl := &p.placements[i]
		b, c := processorBid(several, r, pl, v).Float64(), v.Price(pl.Host).Float64()
		share := float64(market.Quote(b, c))
		p.price += c
		p.share += share
		if least := r.Needs.Min.CPU; least > 0 && processors(share, v.Spec(pl.Host)) < least {
			d.Reason = priceTooHigh
		}
		if f := v.Floors(pl.Host); f != nil && f.OnHeld() {
			if _, ok := contracts.Affords(r, pl, v); !ok {
				d.Reason = contracts.BelowFloor
			}
		}
	}
	p.price /= float64(len(p.placements))
	p.numbers = p.numbers[:0].With("price", p.price).With("spot_share", p.share)
	d.Numbers = p.numbers
	if d.Reason == contracts.None {
		d.Verdict, d.Placements = contracts.Accept, p.placements
	}
	return d
}

// processorBid returns the bid for processors of a node of r at pl. The argument several
// reports whether r can also claim other priced resources.
func processorBid(several bool, r *contracts.Request, pl *contracts.Placement, v contracts.View) market.Rate {
	if !several {
		return pl.Bid
	}
	c := r.Claims(pl.Host, v)
	return c.Bid(pl.Bid, hosts.CPU)
}

// processors returns the number of processors that one task receives for the given share of a
// host.
func processors(share float64, spec *hosts.Spec) float64 {
	if spec.Cap > 0 {
		return min(share*spec.CPUs, spec.Cap)
	}
	return share * spec.CPUs
}
