package whatif

import (
	"bourse/contracts"
	"bourse/workloadgen"
)

// A reportedOutcome is the outcome of a reported job.
type reportedOutcome struct {
	Done float64 // work done over all nodes by the true deadline, in processor-seconds
	Paid float64 // payment minus penalties received, in dollars
}

// A game is a market with known true jobs that can be run on reported plans.
type game struct {
	Truth workloadgen.Plan
	Alpha float64 // inelasticity of users, in [0,1] (eq. 9)

	// Run returns the outcome of each reported job, in order.
	Run func(reported) ([]reportedOutcome, error)
}

// A payoff has the utility of every user for given reports.
type payoff struct {
	Utility map[int64]float64 // utility of each user, in dollars
	Worth   float64           // value of all completed work to its owners, which is utility without payments
}

// payoff returns the utility of every user. The function by returns the report of each
// user.
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

// A gain contains, for each deviation in order, the utility of a user who deviates minus the
// utility of the same user when truthful, in dollars.
type gain struct {
	User int64
	By   []float64
}

// gains returns the outcome when all users are truthful. It also returns the gain of each user
// in users by each deviation while all other users are truthful.
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
