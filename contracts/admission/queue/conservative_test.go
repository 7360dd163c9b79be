package queue

import (
	"testing"

	"bourse/contracts"
	"bourse/contracts/admission/policytest"
)

// A counted is a policy whose events are counted.
type counted struct {
	*conservative
	events int
}

func (p *counted) Handle(now float64, e contracts.Event, m contracts.Market) []contracts.Action {
	p.events++
	return p.conservative.Handle(now, e, m)
}

// TestShortJobBehindLongerThanEstimated checks that the number of plans does not depend on the
// runtime of a request that waits for a job that has exceeded its estimate.
func TestShortJobBehindLongerThanEstimated(t *testing.T) {
	t.Parallel()
	p, err := newConservative(options{}.Decode, nil, nil)
	check(t, err)
	c := &counted{conservative: p.(*conservative)}
	m := policytest.Deal(t, 2, 1, c, "exclusive", "budget", []policytest.Trade{
		{ID: 1, Nodes: 1, Estimate: 1, Runtime: 60, Deadline: 1000, Budget: 1e6},
		{ID: 2, Submit: 2, Nodes: 2, Runtime: 1e-4, Deadline: 1000, Budget: 1e6},
		{ID: 3, Submit: 3, Nodes: 1, Runtime: 10, Deadline: 1000, Budget: 1e6},
	})
	for id, want := range map[int64]float64{1: 0, 2: 60, 3: 60.0001} {
		if stays := m.Traded[id].Stays; len(stays) != 1 || stays[0][0] != want {
			t.Errorf("job %d ran in %v, want a start at %v s", id, stays, want)
		}
	}
	if c.events > 200 {
		t.Errorf("%d events for three jobs in a minute, want 200 at most", c.events)
	}
}
