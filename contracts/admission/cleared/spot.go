package cleared

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"bourse/bank/exact"
	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/hosts"
	"bourse/market"
	"bourse/market/clearing"
)

// Reasons of spot.
const (
	notSold contracts.Reason = "on-demand is not sold"
)

// SpotOptions are the options of spot.
type SpotOptions struct {
	Common      `yaml:",inline"`
	Notice      float64 `yaml:"notice" validate:"min=0,max=1e9" doc:"time between the decision about a clearing and the clearing, s; at most every"`
	Reserve     float64 `yaml:"reserve" validate:"min=0,max=1e6" doc:"lowest price, $ per node and second"`
	K           float64 `yaml:"k" validate:"min=0,max=1" doc:"position of the price between the highest losing bid (0) and the lowest winning bid (1)"`
	Fill        bool    `yaml:"fill" doc:"units that are free between clearings go to waiting bids at or above the price"`
	Interrupted string  `yaml:"interrupted" validate:"oneof=resume restart end" doc:"jobs that lose their units: resume (later, with their work), restart (without it) or end"`
	OnDemand    float64 `yaml:"ondemand" validate:"min=0,max=1e6" doc:"price of jobs of class ondemand, which are not interrupted, $ per node and second; 0 means that they are not sold"`
	Bidding     string  `yaml:"bidding" validate:"oneof=value progress" doc:"buyers: value (bid the budget over nodes and estimate) or progress (Uniform Progress: on spot while on schedule for the deadline, otherwise on demand)"`
}

// spot is a market of interruptible processors like the one that Amazon EC2 had from 2009 to
//  2017. The jobs with the lowest bids are interrupted, with notice, when other jobs bid more
//     (Ben-Yehuda, Ben-Yehuda, Schuster, Tsafrir, "Deconstructing Amazon EC2 Spot Instance
//     Pricing", 2013). The decision for [kT, (k+1)T) is made at kT - notice. It covers the
//     jobs that run on spot units, are suspended, or wait. Before T, the price is the reserve
//     price.
//
// Jobs of class ondemand pay a fixed rate, are never interrupted and have priority. Units that
// they hold or wait for are not offered to other jobs.
type spot struct {
	SpotOptions
	reserve, onDemand market.Rate
	mechanism         clearing.Mechanism
	price             func(r *contracts.Request) market.Rate // price to bid for a request; nil if jobs bid their value
	order             []*job
}

// newSpot returns a spot policy with the decoded options.
func newSpot(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	s := &spot{SpotOptions: SpotOptions{
		Common: Common{Every: 300, Losers: "wait"}, Notice: 120, Reserve: 0.0001, Fill: true, Interrupted: "resume", Bidding: "value",
	}}
	if err := decode(&s.SpotOptions); err != nil {
		return nil, err
	}
	switch {
	case s.Notice > s.Every:
		return nil, errors.New("notice: want at most every")
	case s.Bidding == "progress" && s.OnDemand == 0:
		return nil, errors.New("bidding: progress needs a price ondemand")
	}
	s.reserve, s.onDemand = rate(s.Reserve), rate(s.OnDemand)
	s.mechanism = clearing.NewDouble(clearing.DoubleOptions{K: s.K})
	p := (&Policy{notice: s.Notice, interrupted: s.Interrupted}).init(s.Common, s)
	return p, nil
}

// rate converts dollars per second to the nearest whole rate.
func rate(dollars float64) market.Rate { return market.Rate(math.RoundToEven(dollars * 1e9)) }

// value returns the value of a job as a bid: budget / (nodes × estimate / speed), rounded
// toward zero.
func value(r *contracts.Request, speed float64) market.Rate {
	x, ok := exact.Trunc(3, []float64{float64(r.SLA.Budget.Micros()), speed}, []float64{r.Work, float64(r.Nodes)})
	if !ok || market.Rate(x) > market.MaxRate {
		return market.MaxRate
	}
	return market.Rate(x)
}

// consider implements seller.
func (s *spot) consider(p *Policy, now float64, j *job, r *contracts.Request) contracts.Reason {
	j.class.result.Price = max(j.class.result.Price, s.reserve)
	j.bid = value(r, j.class.spec.Speed)
	switch {
	case s.price != nil:
		j.bid = s.price(r)
	case s.Bidding == "progress":
		j.bid = s.onDemand
	}
	if j.onDemand = r.Class == "ondemand"; j.onDemand {
		cost := float64(s.onDemand) * float64(j.nodes) * (j.work / j.class.spec.Speed) // cost of the job in nano-dollars
		switch {
		case s.onDemand == 0:
			return notSold
		case cost > float64(r.SLA.Budget.Micros())*1e3:
			return contracts.TooDear
		}
		return contracts.None
	}
	if j.bid < s.reserve {
		return contracts.BelowReserve
	}
	s.buy(p, j, now, true)
	return contracts.None
}

// decide implements seller.
func (s *spot) decide(p *Policy, now, at float64) {
	for _, j := range slices.Clone(p.jobs) {
		s.buy(p, j, now, true)
	}
	for _, c := range p.classes {
		left := s.left(p, c)
		c.begin(p)
		if c.several {
			c.offer(p, func(hosts.ID) market.Rate { return s.reserve }, func(h hosts.ID) int { return left[h] })
		} else {
			for range c.offered {
				c.book.Asks = append(c.book.Asks, clearing.Ask{Seller: -1, Price: s.reserve})
			}
		}
		c.result.Price = max(c.result.Price, s.reserve)
		c.clear(s.mechanism)
	}
}

// left returns the number of units of each host that the decision offers, if hosts have several
// processors, and stores the sum for all hosts. The other units belong to jobs on demand.
// Waiting jobs on demand win units in order of submission, if their nodes fit.
func (s *spot) left(p *Policy, c *class) map[hosts.ID]int {
	left := map[hosts.ID]int{}
	for _, h := range c.hosts {
		if c.several && p.present[h] {
			left[h] = p.tasks[h]
		}
	}
	c.offered = c.units
	for _, j := range p.jobs {
		if j.class == c && j.onDemand && j.state == running {
			c.offered -= j.nodes
			for _, h := range j.on {
				left[h]--
			}
		}
	}
	c.offered = max(0, c.offered)
	for _, j := range p.jobs {
		if j.class != c || !j.onDemand || j.state == running || j.idle || j.nodes > c.offered {
			continue
		}
		if c.several {
			if j.to = p.freest(c, left, j.nodes); j.to == nil {
				continue
			}
		}
		c.offered -= j.nodes
		j.takes, j.wins = true, true
	}
	return left
}

// freest takes a unit of each of n hosts of c that have units left, and returns these hosts in
// order. It returns nil if there are too few. It first takes units on which no job runs, and
// then units of the hosts with the most units left.
func (p *Policy) freest(c *class, left map[hosts.ID]int, n int) (on []hosts.ID) {
	for _, h := range c.hosts {
		if left[h] > 0 {
			on = append(on, h)
		}
	}
	if len(on) < n {
		return nil
	}
	full := func(h hosts.ID) int { return min(1, p.load[h]/p.tasks[h]) }
	slices.SortStableFunc(on, func(g, h hosts.ID) int { return cmp.Or(full(g)-full(h), left[h]-left[g]) })
	on = on[:n]
	slices.Sort(on)
	for _, h := range on {
		left[h]--
	}
	return on
}

// fill implements seller. First, jobs on demand start, in order of submission. Then jobs with
// bids at or above the price start, beginning with the highest bid.
func (s *spot) fill(p *Policy, now float64) {
	p.expire(now, func(j *job) bool { return s.Fill || j.onDemand })
	for _, c := range p.classes {
		room := p.roomIn(c)
		for _, j := range p.jobs {
			if room > 0 && j.class == c && j.onDemand && j.state != running && !j.idle && j.nodes <= room && p.launch(j, nil) {
				room = p.roomIn(c)
			}
		}
		if !s.Fill || room == 0 {
			continue
		}
		s.order = s.order[:0]
		for _, j := range p.jobs {
			if j.class == c && !j.onDemand && !j.idle && j.state != running && j.bid >= c.result.Price {
				s.order = append(s.order, j)
			}
		}
		slices.SortStableFunc(s.order, func(a, b *job) int {
			return cmp.Or(cmp.Compare(b.bid, a.bid), cmp.Compare(a.submit, b.submit), cmp.Compare(a.id, b.id))
		})
		for _, j := range s.order {
			if j.nodes <= room && p.launch(j, nil) {
				room = p.roomIn(c)
			}
		}
	}
}

// terms implements seller. For a job on spot units, the numbers are its bid and the price, in
// $/s per node, and the number of units offered in the last decision. For a job on demand, the
// number is its rate.
func (s *spot) terms(_ *Policy, j *job) (market.Rate, contracts.Numbers) {
	if j.onDemand {
		return s.onDemand, contracts.Numbers{contracts.Measured("ondemand", s.onDemand.Float64())}
	}
	price := max(j.class.result.Price, s.reserve)
	return price, contracts.Numbers{
		contracts.Measured("bid", j.bid.Float64()), contracts.Measured("price", price.Float64()), contracts.Counted("offered", j.class.offered),
	}
}

// interrupted lets the buyer of j, which was suspended, choose its course again.
func (s *spot) interrupted(p *Policy, j *job, now float64) { s.buy(p, j, now, false) }
