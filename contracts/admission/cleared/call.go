package cleared

import (
	"errors"
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/hosts"
	"bourse/market"
	"bourse/market/clearing"
)

// belowAsks means that the bid is below all asks.
const belowAsks contracts.Reason = "bid below the asks"

// CallOptions are the options of call.
type CallOptions struct {
	Common  `yaml:",inline"`
	Asks    []float64 `yaml:"asks" validate:"dive,min=0,max=1e6" doc:"lowest prices of the hosts, assigned to them in turn, $ per node and second"`
	Uniform []float64 `yaml:"uniform" validate:"dive,min=0,max=1e6" doc:"two prices between which the ask of each host is drawn once per run, instead of asks"`
	K       float64   `yaml:"k" validate:"min=0,max=1" doc:"position of the price between the lowest (0) and the highest (1) that clears"`
}

// call is a call market: at regular times, it clears bids and asks at one price by the k-double
// auction (Satterthwaite, Williams, "Bilateral Trade with the Sealed Bid k-Double Auction",
// 1989). A slot is one unit for one period; a longer job must win again.
type call struct {
	CallOptions
	rng       *rand.Rand
	asks      []market.Rate // ask of each host
	mechanism clearing.Mechanism
}

// newCall returns a call policy with the decoded options.
func newCall(decode func(any) error, _ bidding.Strategy, rng *rand.Rand) (contracts.Policy, error) {
	s := &call{CallOptions: CallOptions{Common: Common{Every: 300, Losers: "wait"}, Asks: []float64{0.0001}, K: 0.5}, rng: rng}
	if err := decode(&s.CallOptions); err != nil {
		return nil, err
	}
	switch {
	case len(s.Uniform) != 0 && (len(s.Uniform) != 2 || s.Uniform[1] < s.Uniform[0]):
		return nil, errors.New("uniform: want two prices, the lower first")
	case len(s.Uniform) == 0 && len(s.Asks) == 0:
		return nil, errors.New("asks: found none, want at least one price")
	}
	s.mechanism = clearing.NewDouble(clearing.DoubleOptions{K: s.K})
	return (&Policy{interrupted: "resume", asks: true}).init(s.Common, s), nil
}

// consider implements seller. It rejects bids that never win and never affect a price. A bid of
// several nodes that exceeds some asks but not others can affect the price, as the highest
// losing bid.
func (s *call) consider(_ *Policy, _ float64, j *job, r *contracts.Request) contracts.Reason {
	j.bid = value(r, j.class.spec.Speed)
	if slices.ContainsFunc(j.class.hosts, func(h hosts.ID) bool { return s.ask(h) <= j.bid }) {
		return contracts.None
	}
	return belowAsks
}

// ask returns the ask of host h.
func (s *call) ask(h hosts.ID) market.Rate {
	for len(s.asks) <= int(h) {
		if len(s.Uniform) == 2 {
			s.asks = append(s.asks, rate(s.Uniform[0]+(s.Uniform[1]-s.Uniform[0])*s.rng.Float64()))
		} else {
			s.asks = append(s.asks, rate(s.Asks[len(s.asks)%len(s.Asks)]))
		}
	}
	return s.asks[h]
}

// decide implements seller.
func (s *call) decide(p *Policy, _, _ float64) {
	for _, c := range p.classes {
		c.offered = c.units
		c.begin(p)
		c.offer(p, s.ask, func(h hosts.ID) int { return p.tasks[h] })
		c.clear(s.mechanism)
	}
}

// fill implements seller: slots are sold only at clearings.
func (s *call) fill(*Policy, float64) {}

// terms implements seller. The numbers are the bid and the price, in $/s per node, and the
// units offered.
func (s *call) terms(_ *Policy, j *job) (market.Rate, contracts.Numbers) {
	return j.class.result.Price, contracts.Numbers{
		contracts.Measured("bid", j.bid.Float64()), contracts.Measured("price", j.class.result.Price.Float64()), contracts.Counted("offered", j.class.offered),
	}
}
