package whatif

import (
	"bourse/contracts"
	"bourse/workloadgen"
)

// A reportedOutcome is what became of a job that was said.
type reportedOutcome struct {
	Done float64 // work over all nodes by the true deadline
	Paid float64 // $, less the penalties received
}

// A game is a market of which the truth is known, and which can be run on what is said.
type game struct {
	Truth workloadgen.Plan
	Alpha float64 // how inelastic users are, in [0,1] (eq. 9)

	// Run returns what becomes of each job that is said, in order.
	Run func(reported) ([]reportedOutcome, error)
}

// A payoff is what all users have when each says something.
type payoff struct {
	Utility map[int64]float64 // by user, $
	Worth   float64           // of all work that was done, to its owners: utilities without payments
}

// payoff returns what all have if users say what by tells.
func (m *game) payoff(by func(user int64) Deviation) (o payoff, err error) {
	said := misreport(m.Truth, by)
	fates, err := m.Run(said)
	if err != nil {
		return o, err
	}
	whole := make([]reportedOutcome, len(m.Truth))
	for i, f := range fates {
		of := &whole[said.Of[i]]
		of.Done += f.Done
		of.Paid += f.Paid
	}
	o.Utility = make(map[int64]float64)
	for i, f := range whole {
		j := &m.Truth[i]
		worth := contracts.Mixed(m.Alpha, f.Done, j.Work(), 0, j.Value)
		o.Utility[j.User] += worth - f.Paid
		o.Worth += worth
	}
	return o, nil
}

// A gain is what a user has more than in truth by each deviation, in order, $.
type gain struct {
	User int64
	By   []float64
}

// gains returns what the truth comes to, and what each of users gains by each deviation, all
// others saying the truth.
func (m *game) gains(users []int64, deviations []Deviation) (truth payoff, gains []gain, err error) {
	if truth, err = m.payoff(func(int64) Deviation { return Deviation{} }); err != nil {
		return truth, nil, err
	}
	for _, u := range users {
		g := gain{User: u}
		for _, d := range deviations {
			o, err := m.payoff(func(user int64) Deviation {
				if user == u {
					return d
				}
				return Deviation{}
			})
			if err != nil {
				return truth, nil, err
			}
			g.By = append(g.By, o.Utility[u]-truth.Utility[u])
		}
		gains = append(gains, g)
	}
	return truth, gains, nil
}
