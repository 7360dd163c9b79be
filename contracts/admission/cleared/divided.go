package cleared

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/market"
	"bourse/market/clearing"
)

// divided divides the units of all hosts among the users, without money. The demand of a user
// is the total number of nodes of the user's jobs. In order of submission, each job of a user
// runs if the user has enough remaining units. All other jobs are suspended. Between clearings,
// unused units of a user go to its waiting jobs.
type divided struct {
	mechanism clearing.Mechanism
	fresh     []int32       // users that have submitted since the last clearing
	units     map[int32]int // units of each user until the next clearing
	left      map[int32]int // units of each user that no job has
}

// KarmaOptions are the options of karma.
type KarmaOptions struct {
	Common                `yaml:",inline"`
	clearing.KarmaOptions `yaml:",inline"`
}

// newKarma returns a policy that divides units by credits, with the decoded options.
func newKarma(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	o := KarmaOptions{Common{Every: 60, Losers: "wait"}, clearing.KarmaOptions{Alpha: 0.5, Credits: 1e9}}
	err := decode(&o)
	return newDivided(o.Common, clearing.NewKarma(o.KarmaOptions)), err
}

// SlicesOptions are the options of slices.
type SlicesOptions struct {
	Common `yaml:",inline"`
	Shares map[string]float64 `yaml:"shares" doc:"weight by the number of the user; 1 for all others"`
}

// newSlices returns a policy that divides units by weights, with the decoded options.
func newSlices(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	o := SlicesOptions{Common: Common{Every: 60, Losers: "wait"}}
	if err := decode(&o); err != nil {
		return nil, err
	}
	for name, weight := range o.Shares {
		if !(weight > 0) {
			return nil, fmt.Errorf("shares: %s: found %v, want more than 0", name, weight)
		}
	}
	return newDivided(o.Common, clearing.NewSlices(func(user int32) float64 {
		if weight, given := o.Shares[strconv.Itoa(int(user))]; given {
			return weight
		}
		return 1
	})), nil
}

func newDivided(c Common, m clearing.Mechanism) contracts.Policy {
	s := &divided{mechanism: m, units: map[int32]int{}, left: map[int32]int{}}
	return (&Policy{interrupted: "resume", unpaid: true}).init(c, s)
}

// consider implements seller.
func (s *divided) consider(_ *Policy, _ float64, j *job, _ *contracts.Request) contracts.Reason {
	s.fresh = append(s.fresh, j.user)
	return contracts.None
}

// decide implements seller.
func (s *divided) decide(p *Policy, _, _ float64) {
	c := p.classes[0]
	c.offered, c.book.Capacity = c.units, c.units
	c.begin(p)
	for _, user := range s.fresh {
		c.book.Bids = append(c.book.Bids, clearing.Bid{User: user})
	}
	s.fresh = s.fresh[:0]
	c.clear(s.mechanism)
	clear(s.units)
	clear(s.left)
	for i, n := range c.result.Units {
		s.units[c.book.Bids[i].User] += n
		s.left[c.book.Bids[i].User] += n
	}
	for _, j := range c.bidders {
		if j.wins = j.nodes <= s.left[j.user]; j.wins {
			s.left[j.user] -= j.nodes
		}
	}
}

// fill implements seller. If a clearing is due, fill does nothing until then.
func (s *divided) fill(p *Policy, now float64) {
	if p.expire(now, func(*job) bool { return true }); now >= float64(p.next)*p.Every {
		return
	}
	for user, n := range s.units {
		s.left[user] = n
	}
	for _, j := range p.jobs {
		if j.state == running {
			s.left[j.user] -= j.nodes
		}
	}
	for _, j := range p.jobs {
		if j.state != running && j.nodes <= s.left[j.user] && p.launch(j, nil) {
			s.left[j.user] -= j.nodes
		}
	}
}

// terms implements seller. The numbers are the units of the job's user and, under karma, the
// credits of this user.
func (s *divided) terms(_ *Policy, j *job) (market.Rate, contracts.Numbers) {
	numbers := contracts.Numbers{contracts.Counted("units", s.units[j.user])}
	if k, ok := s.mechanism.(interface {
		Balance(user int32) (int64, bool)
	}); ok {
		if n, known := k.Balance(j.user); known {
			numbers = append(numbers, contracts.Counted("credits", int(n)))
		}
	}
	return 0, numbers
}
