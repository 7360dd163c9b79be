package cleared

import (
	"testing"

	"bourse/contracts/admission"
	"bourse/contracts/admission/policytest"
)

// TestHeldResources checks that jobs start only on hosts with enough free memory, even if
// processors are free, and that a job that no host can ever hold is rejected.
func TestHeldResources(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]struct {
		new     admission.Factory
		payment string
	}{"slices": {newSlices, "free"}, "karma": {newKarma, "free"}, "spot": {newSpot, "bid"}, "call": {newCall, "bid"}} {
		policy, err := p.new(policytest.Options{"every": 10.0}.Decode, nil, nil)
		if name == "spot" {
			policy, err = p.new(policytest.Options{"every": 10.0, "notice": 0.0}.Decode, nil, nil)
		}
		check(t, err)
		m := policytest.Deal(t, 1, 3, policy, "exclusive", p.payment, []policytest.Trade{
			{ID: 1, Nodes: 1, Runtime: 25, Deadline: 1000, Budget: 1e6, Memory: 0.6},
			{ID: 2, Nodes: 1, Runtime: 25, Deadline: 1000, Budget: 1e6, Memory: 0.6},
			{ID: 3, Nodes: 1, Runtime: 25, Deadline: 1000, Budget: 1e6, Memory: 0.3},
			{ID: 4, Nodes: 1, Runtime: 25, Deadline: 1000, Budget: 1e6, Memory: 1.1},
		})
		first, second, third := m.Traded[1].Stays, m.Traded[2].Stays, m.Traded[3].Stays
		if len(first) != 1 || len(second) != 1 || len(third) != 1 || second[0][0] < first[0][1] || third[0][0] != first[0][0] {
			t.Errorf("%s: jobs that hold 0.6, 0.6 and 0.3 of the memory ran in %v, %v and %v, want the second after the first, and the third with it", name, first, second, third)
		}
		if got := m.Traded[4].State(); got != "refused" {
			t.Errorf("%s: a job that no host can hold is %s, want refused", name, got)
		}
	}
}
