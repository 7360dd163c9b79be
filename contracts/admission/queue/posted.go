package queue

import (
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/bidding"
	"bourse/hosts"
	"bourse/market"
	"bourse/market/clearing"
)

// posted sells processors at list prices that depend on the load. A request that can pay and
// fits starts immediately, and its rates do not change afterwards. Any other request waits or
// leaves, without blocking later requests.
//
// The price of a node depends on the load before the node (marginal) or on the load before the
// whole request. With marginal prices, a wide job pays the same as its nodes would pay if they
// arrived one after another.
type posted struct {
	free
	o     PostedOptions
	units []int // number of processors of each host; 0 if the host is absent
	all   int   // sum of units

	alone   contracts.Request // request examined last, marked as not packed
	numbers contracts.Numbers
}

// PostedOptions are the options of posted.
type PostedOptions struct {
	clearing.Curve `yaml:",inline"`
	At             string `yaml:"at" validate:"oneof=marginal before" doc:"load at which a node pays: marginal (with the nodes before it in its request) or before (without them)"`
	Losers         string `yaml:"losers" validate:"oneof=wait leave" doc:"requests that do not start at once: wait or leave (are rejected)"`
}

// newPosted returns a posted policy with the decoded options.
func newPosted(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	p := &posted{o: PostedOptions{Curve: clearing.DefaultCurve(), At: "marginal", Losers: "wait"}}
	if err := decode(&p.o); err != nil {
		return nil, err
	}
	return admission.Immediate(p), p.o.Validate()
}

// Decide implements [contracts.Decider]. Decide reports the numbers price (the mean rate of a
// node, in $/s), cost (the price of the estimate, in $) and load (the fraction of the
// processors in use).
func (p *posted) Decide(now float64, request *contracts.Request, v contracts.View) contracts.Decision {
	p.count(v)
	p.alone = *request
	r := &p.alone
	r.Packed = false // each node is on a separate host
	d := contracts.Decision{Reason: contracts.TooFewHosts}
	if !everHolds(r, v) {
		return d
	}
	speed, due, budget := p.empty(r, v), r.Due(), float64(r.SLA.Budget.Micros())*1e3 // budget in nano-dollars
	if now+r.Work/speed > due && !r.SLA.GoesOn() {
		d.Reason = contracts.TooLate
		return d
	}
	if p.cost(r, 0, speed) > budget {
		d.Reason, d.Numbers = contracts.TooDear, p.numbers
		return d
	}
	if !p.start(r, v) {
		return p.loses(contracts.NoRoom)
	}
	if speed = p.slowest(v); now+r.Work/speed > due && !r.SLA.GoesOn() {
		return p.loses(contracts.TooLate)
	}
	used := p.all - p.slots
	if p.cost(r, used, speed) > budget {
		return p.loses(contracts.TooDear)
	}
	d = p.accept(r)
	for k := range d.Placements {
		d.Placements[k].Bid = p.price(used, k)
	}
	d.Rated, d.Numbers = true, p.numbers
	return d
}

// empty returns the lowest speed of the hosts that r would use on an empty fleet.
func (p *posted) empty(r *contracts.Request, v contracts.View) float64 {
	speed := v.Spec(0).Speed
	for h := range hosts.ID(r.Nodes) {
		speed = min(speed, v.Spec(h).Speed)
	}
	return speed
}

// loses defers a request or, if the option for losing requests is leave, rejects it.
func (p *posted) loses(reason contracts.Reason) contracts.Decision {
	if p.o.Losers == "leave" {
		return contracts.Decision{Reason: reason, Numbers: p.numbers}
	}
	return contracts.Decision{Verdict: contracts.Defer}
}

// price returns the rate of node k of a request if the given number of units is in use.
func (p *posted) price(used, k int) market.Rate {
	if p.o.At == "before" {
		k = 0
	}
	return p.o.Curve.At(float64(used+k) / float64(max(1, p.all)))
}

// cost returns the cost of r for its estimated runtime, in nano-dollars, if the given number of
// units is in use and the hosts have the given speed. It also stores the numbers of the
// decision.
func (p *posted) cost(r *contracts.Request, used int, speed float64) float64 {
	sum := market.Rate(0)
	for k := range r.Nodes {
		sum += p.price(used, k)
	}
	cost := float64(sum) * (r.Work / speed)
	p.numbers = append(p.numbers[:0],
		contracts.Measured("price", sum.Float64()/float64(r.Nodes)), contracts.Measured("cost", cost/1e9),
		contracts.Measured("load", float64(used)/float64(max(1, p.all))))
	return cost
}

// count updates the numbers of free processors and of processors present.
func (p *posted) count(v contracts.View) {
	changed := p.see(v)
	if len(p.units) != v.Fleet() {
		p.units, p.all = make([]int, v.Fleet()), 0
	}
	for _, h := range changed {
		present := 0
		if !v.Unavailable(hosts.ID(h)) {
			present = p.tasks[h]
		}
		p.all += present - p.units[h]
		p.units[h] = present
	}
}
