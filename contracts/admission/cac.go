package admission

import (
	"math"
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/hosts"
	"bourse/market"
)

// wouldViolate means that the admission of the request would violate a contract (eq. 6).
const wouldViolate contracts.Reason = "would violate"

// capacityTests are the tests that cac makes in addition to the tests of sac.
var capacityTests = []Test{{wouldViolate, "gets", "want", false, "its rate"}}

// Capacity is [Statistical] with a further test: admitting the request must not violate any
// active contract or the new one (CAC, §3). Capacity checks only the contracts that share a
// host with the request, because no other rates can change.
//
// The projected test computes the rates that all contracts would have after the admission. A
// contract would be violated if, at this rate, its work would not be done by its deadline. For
// example, 300 units of work that remain 100 s before the deadline require a rate of 3.
//
// The static test is the paper's. A request r would violate a contract s if (eq. 6)
//
//	Σ_h b_h(s)/(b_h(s) + b_h(r) + c_h(-s)) < q_s
//
// Here q_s is a sum over the nodes of s. Each term is the share of the host that the work of
// the node needs to finish by the deadline. This share follows from the original promise and
// ignores work already done. For a contract that was placed again, it follows from the
// remaining work and time. Contracts on demand have no promised deadline.
//
// With Discount, the rate or share that the request itself would receive is multiplied by the
// probability that the host stays. For running contracts, only the loss caused by the request
// counts.
//
// If held resources have prices, the bids in these formulas are the bids for processors. A
// task cannot lose a held resource, so no further test is needed.
type Capacity struct {
	*Statistical
	test  string
	gains []float64 // change in rate if the request is admitted, by contract; usually negative
	seen  []int32   // contracts to check, in order of host and admission
	part  []hosts.Share
	rates []float64
}

// CapacityOptions are the options of cac.
type CapacityOptions struct {
	StatisticalOptions `yaml:",inline"`
	Capacity           string `yaml:"capacity" validate:"oneof=projected static" doc:"test for violations: projected (the rates that all contracts would get) or static (eq. 6 as printed)"`
}

// defaultCapacity returns the default options of cac: the options of sac, and the projected
// test.
func defaultCapacity() CapacityOptions {
	return CapacityOptions{defaultStatistical(), "projected"}
}

// newCapacity returns a cac policy with the decoded options.
func newCapacity(decode func(any) error, bid bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	o := defaultCapacity()
	err := decode(&o)
	return Immediate(capacity(o, bid)), err
}

// capacity returns a cac policy with options o.
func capacity(o CapacityOptions, bid bidding.Strategy) *Capacity {
	p := &Capacity{Statistical: statistical(o.StatisticalOptions, bid), test: o.Capacity}
	p.promises = true
	return p
}

// Decide implements [contracts.Decider]. Decide reports the numbers of [Statistical] and, if a
// contract would be violated,
//
//	violates  the first contract violated
//	gets      what it would receive: work per second, or a sum of shares (eq. 6)
//	want      what it needs, in the same unit
func (p *Capacity) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	d := p.Statistical.Decide(now, r, v)
	if d.Verdict != contracts.Accept {
		return d
	}
	violated := p.projected
	if p.test == "static" {
		violated = p.static
	}
	if id, gets, want, ok := violated(now, r, v, d.Placements); !ok {
		p.be.numbers = append(d.Numbers, contracts.Concerned("violates", id), contracts.Measured("gets", gets), contracts.Measured("want", want))
		d.Numbers = p.be.numbers
		return refuse(d, wouldViolate)
	}
	return d
}

// projected applies the projected test. It returns the first contract that would be violated,
// the work per second that the contract would receive, and the work per second that it needs.
// If no contract would be violated, ok is true.
func (p *Capacity) projected(now float64, r *contracts.Request, v contracts.View, on []contracts.Placement) (id contracts.ID, gets, want float64, ok bool) {
	p.forget()
	several := r.ClaimsHeld(v.Priced())
	total, predicted := 0.0, p.Discount == "predicted"
	// Divide each chosen host as if the request had been admitted. If the nodes share one
	// total of work, compare the sum of their rates. If each node has its own work, compare
	// each node.
	for i := range on {
		h := on[i].Host
		running, spec := v.On(h), v.Spec(h)
		p.divide(spec, processorBid(several, r, &on[i], v), r, running)
		own := p.rates[len(running)] * spec.Speed
		if predicted {
			own *= p.stays(now, r, h, v)
		}
		if r.PerHost && !lasts(own, now, r.Due(), r.Work, r.Work) {
			return r.ID, own, r.Work / r.Span(now), false
		}
		total += own
		if id, gets, want, ok = p.changed(now, running, spec, none, v); !ok {
			return id, gets, want, false
		}
	}
	if !r.PerHost && !lasts(total, now, r.Due(), r.Total(), r.Total()) {
		return r.ID, total, r.Total() / r.Span(now), false
	}
	return p.undone(now, v)
}

// none is the number that means no contract.
const none = -1

// changed compares the current rates of a host's running tasks with their new rates. It
// returns the first contract that would be violated among those whose nodes have their own
// work. It records the changes to the other contracts. A contract whose budget is spent has no
// promised rate, unless it is the contract rebids, which has new bids.
func (p *Capacity) changed(now float64, running []contracts.Allocation, spec *hosts.Spec, rebids int32, v contracts.View) (id contracts.ID, gets, want float64, ok bool) {
	for j := range running {
		s := &running[j]
		if s.Bid == 0 && s.Contract != rebids {
			continue
		}
		rate := p.rates[j] * spec.Speed
		if c := v.Contract(s.Contract); c.PerHost {
			left := s.Left(now, c)
			if span := c.Due() - now; span > 0 && !lasts(rate, now, c.Due(), left, c.Work) {
				return c.ID, rate, left / span, false
			}
			continue
		}
		p.gain(s.Contract, rate-s.Rate)
	}
	return 0, 0, 0, true
}

// undone checks each contract whose rate would change, with the change added to its current
// rate.
func (p *Capacity) undone(now float64, v contracts.View) (id contracts.ID, gets, want float64, ok bool) {
	for _, i := range p.seen {
		c := v.Contract(i)
		rate, left, span := c.Rate+p.gains[i], c.Remaining(now), c.Due()-now
		if span > 0 && !lasts(rate, now, c.Due(), left, c.Total()) {
			return c.ID, rate, left / span, false
		}
	}
	return 0, 0, 0, true
}

// lasts reports whether the work left is completed at the given rate from now to due. The
// argument whole is the total work of the contract. It uses half the tolerance that settlement
// uses, so that settlement judges a contract that just passes this test as fulfilled.
func lasts(rate, now, due, left, whole float64) bool {
	if math.IsInf(due, 1) { // no completion time is promised
		return true
	}
	span := due - now + contracts.Moment(due)
	return rate*span >= left-contracts.Tolerance/2*whole
}

// divide sets rates to the number of processors that each task on a host would receive. The
// new task is the last.
func (p *Capacity) divide(spec *hosts.Spec, bid market.Rate, r *contracts.Request, on []contracts.Allocation) {
	p.part = p.part[:0]
	for j := range on {
		p.part = append(p.part, on[j].Share)
	}
	p.part = append(p.part, hosts.Share{Weight: float64(bid), Limit: r.Needs.Max.CPU})
	p.rates = slices.Grow(p.rates[:0], len(p.part))[:len(p.part)]
	hosts.Divide(spec.CPUs, spec.Cap, p.part, p.rates)
}

// static applies the static test. It returns the first contract that would be violated, the
// sum of the shares that the contract would receive, and the sum that it needs. If no contract
// would be violated, ok is true.
func (p *Capacity) static(now float64, r *contracts.Request, v contracts.View, on []contracts.Placement) (id contracts.ID, gets, want float64, ok bool) {
	p.forget()
	several := r.ClaimsHeld(v.Priced())
	for i := range on {
		h := on[i].Host
		price := v.Price(h).Float64()
		b := processorBid(several, r, &on[i], v).Float64()
		gets += expected(p.stays(now, r, h, v), b, price)
		want += required(now, r, v.Spec(h))
		for _, s := range v.On(h) {
			if s.Bid == 0 { // the budget of the contract is spent
				continue
			}
			own := s.Own().Float64()
			p.gain(s.Contract, float64(market.ShareIf(own, price, b)-market.ShareIf(own, price, 0)))
		}
	}
	if !r.OnDemand && !contracts.Enough(gets, want) {
		return r.ID, gets, want, false
	}
	return p.short(now, v)
}

// short checks the shares of the contracts whose rate would change.
func (p *Capacity) short(now float64, v contracts.View) (id contracts.ID, gets, want float64, ok bool) {
	for _, i := range p.seen {
		c := v.Contract(i)
		if c.OnDemand {
			continue
		}
		pace := promised(now, c)
		gets, want := p.gains[i], 0.0
		for n := range c.Placements {
			pl := &c.Placements[n]
			if pl.Left {
				continue
			}
			gets += float64(market.ShareIf(runningBid(i, n, pl, v).Float64(), v.Price(pl.Host).Float64(), 0))
			want += pace / v.Spec(pl.Host).Capacity()
		}
		if !contracts.Enough(gets, want) {
			return c.ID, gets, want, false
		}
	}
	return 0, 0, 0, true
}

// runningBid returns the bid for processors of node n of contract i, which runs at pl.
func runningBid(i int32, n int, pl *contracts.Placement, v contracts.View) market.Rate {
	if len(v.Priced()) > 0 {
		for _, s := range v.On(pl.Host) {
			if s.Contract == i && int(s.Node) == n {
				return s.Own()
			}
		}
	}
	return pl.Bid
}

// promised returns the work per second that each node of c must do to complete in time.
func promised(now float64, c *contracts.Contract) float64 {
	if c.Repeat {
		return c.Remaining(now) / float64(c.Nodes) / max(c.Due()-now, contracts.Moment(now))
	}
	return c.Work / c.SLA.Deadline
}

// gain adds x to the rate change of contract i and marks the contract for checking.
func (p *Capacity) gain(i int32, x float64) {
	for int(i) >= len(p.gains) {
		p.gains = append(p.gains, 0)
	}
	if p.gains[i] == 0 {
		p.seen = append(p.seen, i)
	}
	p.gains[i] += x
}

// forget clears the changes computed for the previous request.
func (p *Capacity) forget() {
	for _, i := range p.seen {
		p.gains[i] = 0
	}
	p.seen = p.seen[:0]
}
