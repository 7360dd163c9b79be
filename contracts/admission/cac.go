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

// wouldViolate says that a contract would be violated (eq. 6).
const wouldViolate contracts.Reason = "would violate"

// capacityTests are those that cac makes beside the tests of sac.
var capacityTests = []Test{{wouldViolate, "gets", "want", false, "what it gets"}}

// Capacity is [Statistical] with a further test: that letting the request in
// violates no active contract, nor the new one (CAC, §3). A contract is looked
// at if it shares a host with the request; no other's rate can change.
//
// By the projected test a contract is violated if the rates that all would get
// with the request let in, held until its deadline, leave work undone. By the
// static test it is violated if (eq. 6)
//
//	Σ_h b_h(s)/(b_h(s) + b_h(r) + c_h(-s)) < q_s
//
// where q_s sums, over its nodes, the share of the host that its work needs to be done
// by the deadline. That is what was promised, whatever has been done of it since; of
// a contract that was placed again it is what is left of work and time. On demand
// nothing is promised.
//
// With Discount what the request itself would get is multiplied by the probability
// that the host stays; of running contracts only what the request takes from them is
// looked at.
type Capacity struct {
	*Statistical
	test  string
	gains []float64 // by contract: rate it would gain with the request let in
	seen  []int32   // contracts looked at, in order of host and admission
	part  []hosts.Share
	rates []float64
}

// CapacityOptions are the options of cac.
type CapacityOptions struct {
	StatisticalOptions `yaml:",inline"`
	Capacity           string `yaml:"capacity" validate:"oneof=projected static" doc:"test for violations: projected (rates that all would get) or static (eq. 6 as printed)"`
}

func defaultCapacity() CapacityOptions {
	return CapacityOptions{defaultStatistical(), "projected"}
}

func newCapacity(decode func(any) error, bid bidding.Strategy, _ *rand.Rand) (contracts.Decider, error) {
	o := defaultCapacity()
	err := decode(&o)
	return &Capacity{Statistical: statistical(o.StatisticalOptions, bid), test: o.Capacity}, err
}

// Decide implements [contracts.Decider]. It gives the numbers of [Statistical] and, of a
// violation,
//
//	violates  the first contract violated
//	gets      what it would get; work per second, or shares (eq. 6)
//	want      what it needs
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

// projected returns the first contract that would get too little, the work per
// second that it would get and what it needs, or ok.
func (p *Capacity) projected(now float64, r *contracts.Request, v contracts.View, on []contracts.Placement) (id contracts.ID, gets, want float64, ok bool) {
	p.forget()
	total, predicted := 0.0, p.Discount == "predicted"
	for i := range on {
		h := on[i].Host
		running, spec := v.On(h), v.Spec(h)
		p.divide(spec, on[i].Bid, r, running)
		own := p.rates[len(running)] * spec.Speed
		if predicted {
			own *= p.stays(now, r, h, v)
		}
		if r.PerHost && !lasts(own, now, r.Due(), r.Work, r.Work) {
			return r.ID, own, r.Work / span(now, r), false
		}
		total += own
		for j := range running {
			s := &running[j]
			if s.Bid == 0 { // its money is gone: what it gets is promised to nobody
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
	}
	if !r.PerHost && !lasts(total, now, r.Due(), r.Total(), r.Total()) {
		return r.ID, total, r.Total() / span(now, r), false
	}
	for _, i := range p.seen {
		c := v.Contract(i)
		rate, left, span := c.Rate+p.gains[i], c.Remaining(now), c.Due()-now
		if span > 0 && !lasts(rate, now, c.Due(), left, c.Total()) {
			return c.ID, rate, left / span, false
		}
	}
	return 0, 0, 0, true
}

// lasts reports whether rate, kept up from now to due, does the work that is left
// of the whole. It allows for less than contracts are judged by.
func lasts(rate, now, due, left, whole float64) bool {
	if math.IsInf(due, 1) { // no instant is promised
		return true
	}
	span := due - now + contracts.Moment(due)
	return rate*span >= left-contracts.Tolerance/2*whole
}

// divide fills rates with what each task on a host, and last the new one, would get.
func (p *Capacity) divide(spec *hosts.Spec, bid market.Rate, r *contracts.Request, on []contracts.Allocation) {
	p.part = p.part[:0]
	for j := range on {
		p.part = append(p.part, on[j].Share)
	}
	p.part = append(p.part, hosts.Share{Weight: float64(bid), Limit: r.Needs.Max.CPU})
	p.rates = slices.Grow(p.rates[:0], len(p.part))[:len(p.part)]
	hosts.Divide(spec.CPUs, spec.Cap, p.part, p.rates)
}

// static returns the first contract whose shares would sum to too little, that
// sum and what it needs, or ok.
func (p *Capacity) static(now float64, r *contracts.Request, v contracts.View, on []contracts.Placement) (id contracts.ID, gets, want float64, ok bool) {
	p.forget()
	for i := range on {
		h := on[i].Host
		price := v.Price(h).Float64()
		b := on[i].Bid.Float64()
		gets += expected(p.stays(now, r, h, v), b, price)
		want += required(now, r, v.Spec(h))
		for _, s := range v.On(h) {
			if s.Bid == 0 { // its money is gone
				continue
			}
			own := s.Bid.Float64()
			p.gain(s.Contract, float64(market.Kept(own, price, b)-market.Kept(own, price, 0)))
		}
	}
	if !r.OnDemand && !contracts.Enough(gets, want) {
		return r.ID, gets, want, false
	}
	for _, i := range p.seen {
		c := v.Contract(i)
		if c.OnDemand {
			continue
		}
		pace := promised(now, c)
		gets, want := p.gains[i], 0.0
		for _, pl := range c.Placements {
			if pl.Left {
				continue
			}
			gets += float64(market.Kept(pl.Bid.Float64(), v.Price(pl.Host).Float64(), 0))
			want += pace / v.Spec(pl.Host).Capacity()
		}
		if !contracts.Enough(gets, want) {
			return c.ID, gets, want, false
		}
	}
	return 0, 0, 0, true
}

// promised returns the work per second and node by which c is done in its time.
func promised(now float64, c *contracts.Contract) float64 {
	if c.Repeat {
		return c.Remaining(now) / float64(c.Nodes) / max(c.Due()-now, contracts.Moment(now))
	}
	return c.Work / c.SLA.Deadline
}

// gain books what contract i would gain on one host.
func (p *Capacity) gain(i int32, x float64) {
	for int(i) >= len(p.gains) {
		p.gains = append(p.gains, 0)
	}
	if p.gains[i] == 0 {
		p.seen = append(p.seen, i)
	}
	p.gains[i] += x
}

// forget clears what was booked for another request.
func (p *Capacity) forget() {
	for _, i := range p.seen {
		p.gains[i] = 0
	}
	p.seen = p.seen[:0]
}
