package admission

import (
	"cmp"
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/hosts"
	"bourse/market"
)

// These are the reasons of sac and cac.
const (
	belowSpot     contracts.Reason = "share below threshold at spot price"
	belowForecast contracts.Reason = "share below threshold at price percentile" // eq. 5
)

// statisticalTests are the tests of sac.
var statisticalTests = []Test{
	{belowSpot, "spot_share", "threshold", false, "its share at the spot price"},
	{belowForecast, "share", "threshold", false, "its share at the price percentile"},
}

// Statistical admits a request if [BestEffort] admits it and its bids buy a sufficient share
// of their hosts. The share must be sufficient at the spot price c and at the price that will
// not be exceeded with probability g (SAC, §3, eq. 5):
//
//	Σ_h b_h/(b_h + F_h⁻¹(g)) ≥ Σ_h 1/(1 + C_h)
//
// C_h is the number of processors of host h. The threshold 1/(1+C) is the share at which the
// bid equals the price of one processor: b ≥ F/C if and only if b/(b+F) ≥ 1/(1+C). For
// example, on a host of 4 processors with a percentile of 2 $/s, a bid of at least 0.5 $/s is
// required. This threshold is an interpretation. The paper states only that users who are not
// willing to pay the percentile are rejected.
//
// If hosts come and go, Discount multiplies each share by the predicted probability that its
// host stays until the deadline.
//
// If held resources have prices, b and F concern only processors, and the same condition must
// hold for each priced resource that a node claims. For these resources the threshold is
// a/(1+a), where a is the fraction of the host that the node holds. At this share, the bid for
// the resource equals the price of that fraction. For example, a request for one of four GPUs
// requires a share of 0.2.
//
// If the option Promise is fulfilment, g is the probability that the contract is fulfilled,
// and not the probability that the price stays below its percentile (see [fulfilment]).
type Statistical struct {
	StatisticalOptions
	be       *BestEffort
	kept     fulfilment
	promises bool // whether each placement states the percentile of its host
}

// StatisticalOptions are the options of sac, which cac also has.
type StatisticalOptions struct {
	Guarantee float64 `yaml:"guarantee" validate:"gt=0,lt=1" doc:"g, the probability that the price stays below its percentile"`
	Threshold string  `yaml:"threshold" validate:"oneof=price share" doc:"required share: price (the share that one processor's price buys) or share (the share that the work needs)"`
	Discount  string  `yaml:"discount" validate:"oneof=none predicted" doc:"expected capacity of hosts that come and go: none (as if they stayed) or predicted (times the probability of staying until the deadline)"`
	Promise   string  `yaml:"promise" validate:"oneof=price fulfilment" doc:"event with probability g: price (the price stays below its percentile) or fulfilment (the contract is fulfilled, as learned from past contracts)"`
	Gamma     float64 `yaml:"gamma" validate:"gt=0,max=1" doc:"learning rate of promise fulfilment"`
}

// defaultStatistical returns the default options of sac.
func defaultStatistical() StatisticalOptions {
	return StatisticalOptions{Guarantee: 0.6, Threshold: "price", Discount: "none", Promise: "price", Gamma: 0.1}
}

// newStatistical returns a sac policy with the decoded options.
func newStatistical(decode func(any) error, bid bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	o := defaultStatistical()
	err := decode(&o)
	return Immediate(statistical(o, bid)), err
}

// statistical returns a sac policy with options o. A cac policy contains one, too.
func statistical(o StatisticalOptions, bid bidding.Strategy) *Statistical {
	return &Statistical{StatisticalOptions: o, be: &BestEffort{bid: bid}, kept: newFulfilment(o.Guarantee)}
}

// Decide implements [contracts.Decider]. Decide reports the numbers of [BestEffort] and, if
// BestEffort admits the request,
//
//	percentile  mean F⁻¹(g) of the chosen hosts, $/s
//	share       sum of b/(b+F⁻¹(g)) over them (eq. 5)
//	threshold   the value that both sums must reach
//	stays       if shares are discounted: mean probability that a host stays
//	level       if fulfilment is promised: the probability used for the percentile
//
// and then, for each other priced resource that the request claims, such as gpu, the numbers
// gpu_price (the mean), gpu_percentile, gpu_spot_share, gpu_share and gpu_threshold.
func (p *Statistical) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	d := p.be.Decide(now, r, v)
	if d.Verdict != contracts.Accept {
		return d
	}
	spot, predicted := p.be.share, p.Discount == "predicted"
	if predicted {
		spot = 0
	}
	several := r.ClaimsHeld(v.Priced())
	g, level, atPrice := p.Guarantee, 0.0, p.Threshold == "price"
	if p.Promise == "fulfilment" {
		g = p.kept.level()
		level = g
	}
	var percentile, share, threshold, staying float64
	// Over the chosen hosts, add up the share at the spot price, the share at the percentile,
	// and the threshold that both must reach.
	for i := range d.Placements {
		pl := &d.Placements[i]
		b, f := processorBid(several, r, pl, v).Float64(), v.Percentile(pl.Host, g)
		if f < 0 {
			f = 0 // a Normal forecast can be negative, but a price cannot
		}
		percentile += f
		if p.promises {
			pl.Promised, _ = market.Dollars(f) // a price above every possible bid promises nothing
		}
		if predicted {
			stays := p.stays(now, r, pl.Host, v)
			staying += stays / float64(len(d.Placements))
			spot += expected(stays, b, v.Price(pl.Host).Float64())
			share += expected(stays, b, f)
		} else {
			share += float64(market.Quote(b, f))
		}
		// Under the option price, each host contributes 1/(1+C) to the threshold. Under the
		// option share, it contributes the share that the work needs to finish in time.
		spec := v.Spec(pl.Host)
		if atPrice {
			threshold += 1 / (1 + spec.CPUs)
		} else {
			threshold += required(now, r, spec)
		}
	}
	percentile /= float64(len(d.Placements))
	p.be.numbers = p.be.numbers[:0].With("price", p.be.price).With("percentile", percentile).With("spot_share", spot).
		With("share", share).With("threshold", threshold).With("stays", staying).With("level", level)
	d.Numbers = p.be.numbers
	why := contracts.None
	switch {
	case !contracts.Enough(spot, threshold):
		why = belowSpot
	case !contracts.Enough(share, threshold):
		why = belowForecast
	}
	for _, k := range v.Priced() {
		if r.ClaimsHeld([]hosts.Kind{k}) {
			why = cmp.Or(why, p.test(now, r, v, &d, k, g))
		}
	}
	if why != contracts.None {
		return refuse(d, why)
	}
	return d
}

// test applies the tests to the held resource k on the chosen hosts of d, and adds the numbers
// to d. It returns the reason of the first test that fails, or None.
func (p *Statistical) test(now float64, r *contracts.Request, v contracts.View, d *contracts.Decision, k hosts.Kind, g float64) contracts.Reason {
	var price, percentile, spot, share, threshold float64
	for i := range d.Placements {
		pl := &d.Placements[i]
		claims := r.Claims(pl.Host, v)
		a := claims.Of[k]
		if a == 0 {
			continue
		}
		b, c, f, stays := claims.Bid(pl.Bid, k).Float64(), v.PriceOf(pl.Host, k).Float64(), max(0, v.PercentileOf(pl.Host, k, g)), p.stays(now, r, pl.Host, v)
		price += c / float64(len(d.Placements))
		percentile += f / float64(len(d.Placements))
		spot += expected(stays, b, c)
		share += expected(stays, b, f)
		threshold += a / (1 + a)
	}
	name := v.KindName(k)
	p.be.numbers = p.be.numbers.With(name+"_price", price).With(name+"_percentile", percentile).With(name+"_spot_share", spot).
		With(name+"_share", share).With(name+"_threshold", threshold)
	d.Numbers = p.be.numbers
	switch {
	case !contracts.Enough(spot, threshold):
		return contracts.Reason(name + ": " + string(belowSpot))
	case !contracts.Enough(share, threshold):
		return contracts.Reason(name + ": " + string(belowForecast))
	}
	return contracts.None
}

// Judged implements judge.
func (p *Statistical) Judged(_ *contracts.Request, o contracts.Outcome) {
	if o == contracts.Fulfilled || o.Missed() {
		p.kept.judged(p.Guarantee, p.Gamma, o.Missed())
	}
}

// stays returns the fraction of h's share that a task of r can expect until its deadline. With
// Discount, this is the probability that the host stays; without it, the result is 1.
func (p *Statistical) stays(now float64, r *contracts.Request, h hosts.ID, v contracts.View) float64 {
	if p.Discount == "none" {
		return 1
	}
	if r.OnDemand {
		return v.Stays(h, r.SLA.Deadline)
	}
	return v.Stays(h, r.Due()-now)
}

// expected returns the share that a bid of b can expect if the other bids add up to c (eq. 4),
// on a host that stays with the given probability.
func expected(stays, b, c float64) float64 { return float64(market.ShareIf(stays*b, b, c)) }

// required returns the share of a host that r needs to finish its work in time.
func required(now float64, r *contracts.Request, spec *hosts.Spec) float64 {
	return r.Work / r.Span(now) / spec.Capacity()
}

// refuse changes an acceptance into a rejection and keeps its numbers.
func refuse(d contracts.Decision, why contracts.Reason) contracts.Decision {
	d.Verdict, d.Reason, d.Placements = contracts.Reject, why, nil
	return d
}
