package cleared

import (
	"errors"
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/hosts"
	"bourse/market"
	"bourse/market/clearing"
)

// belowAsks means that too few hosts have asks at or below the bid.
const belowAsks contracts.Reason = "bid below the asks"

// CallOptions are the options of call.
type CallOptions struct {
	Common  `yaml:",inline"`
	Asks    []float64 `yaml:"asks" validate:"dive,min=0,max=1e6" doc:"lowest prices of the hosts, assigned to them in turn, $ per node and second"`
	Uniform []float64 `yaml:"uniform" validate:"dive,min=0,max=1e6" doc:"two prices between which the ask of each host is drawn once per run, instead of asks"`
	K       float64   `yaml:"k" validate:"min=0,max=1" doc:"position of the price between the lowest (0) and the highest (1) that clears"`
}

// call is a call market. At regular times, it clears bids and asks at one price by the
// k-double auction (Satterthwaite, Williams, "Bilateral Trade with the Sealed Bid k-Double
// Auction", 1989). A slot is one unit for one period. A job that needs several periods must
// win a slot in each.
type call struct {
	CallOptions
	rng       *rand.Rand
	asks      []market.Rate // by host
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
	return (&Policy{interrupted: "resume"}).init(s.Common, s), nil
}

// consider implements seller.
func (s *call) consider(_ *Policy, _ float64, j *job, r *contracts.Request) contracts.Reason {
	j.bid = value(r, j.class.spec.Speed)
	pays := 0 // number of hosts whose asks the bid pays
	for _, h := range j.class.hosts {
		if s.ask(h) <= j.bid {
			pays++
		}
	}
	if pays < j.nodes {
		return belowAsks
	}
	return contracts.None
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
		c.offered, c.asks = c.units, true
		c.begin(p)
		c.offer(p, s.ask, func(h hosts.ID) int { return p.tasks[h] })
		c.clear(s.mechanism)
	}
}

// fill implements seller: slots are sold only at clearings.
func (s *call) fill(*Policy, float64) {}

// terms implements seller. The numbers are the bid and the price, in $/s per node, and the
// number of units offered.
func (s *call) terms(_ *Policy, j *job) (market.Rate, contracts.Numbers) {
	return j.class.result.Price, contracts.Numbers{
		contracts.Measured("bid", j.bid.Float64()), contracts.Measured("price", j.class.result.Price.Float64()), contracts.Counted("offered", j.class.offered),
	}
}
