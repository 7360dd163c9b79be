package cleared

import (
	"fmt"
	"testing"

	"bourse/contracts"
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

// TestLongerThanEstimated checks that a buyer who follows its progress leaves its units when
// the estimate is done (rule 1), on spot units as well as on demand, so that other jobs can use
// the units.
func TestLongerThanEstimated(t *testing.T) {
	t.Parallel()
	p, err := newSpot(policytest.Options{"every": 7.0, "notice": 2.0, "ondemand": 0.05, "bidding": "progress"}.Decode, nil, nil)
	check(t, err)
	m := policytest.Deal(t, 1, 1, p, "exclusive", "bid", []policytest.Trade{
		{ID: 1, Submit: 1, Nodes: 1, Estimate: 6, Runtime: 60, Deadline: 500, Budget: 1e8},
		{ID: 2, Submit: 5, Nodes: 1, Runtime: 30, Deadline: 500, Budget: 1e8},
	})
	long, other := m.Traded[1], m.Traded[2]
	if len(long.Stays) != 1 || long.Stays[0][1] != 12 || long.State() != "late" {
		t.Errorf("the job with an estimate of 6 s from 1 s on ran in %v and is %s, want an end at the decision at 12 s", long.Stays, long.State())
	}
	if len(other.Stays) != 1 || other.Stays[0][0] != 14 || other.State() != "fulfilled" {
		t.Errorf("the waiting job ran in %v and is %s, want a start at the clearing at 14 s", other.Stays, other.State())
	}
}

// TestRejectedAdmission checks the free processors of a host after the broker has rejected a
// task because its owner cannot pay: each of the jobs that start later must get a processor.
func TestRejectedAdmission(t *testing.T) {
	t.Parallel()
	p, err := newSlices(policytest.Options{"every": 10.0}.Decode, nil, nil)
	check(t, err)
	m := policytest.Deal(t, 2, 2, p, "exclusive", "free", []policytest.Trade{
		{ID: 1, Nodes: 1, Runtime: 60, Deadline: 1000, Budget: 2e15}, // the budget exceeds the user's funds
		{ID: 2, Nodes: 1, Runtime: 60, Deadline: 1000, Budget: 1},
		{ID: 3, Nodes: 1, Runtime: 60, Deadline: 1000, Budget: 1},
		{ID: 4, User: 1, Submit: 12, Nodes: 1, Runtime: 60, Deadline: 1000, Budget: 1},
		{ID: 5, User: 1, Submit: 12, Nodes: 1, Runtime: 60, Deadline: 1000, Budget: 1},
	})
	if got := m.Traded[1].Refused; got != contracts.Unfunded {
		t.Errorf("the first job: found %q, want unfunded", got)
	}
	for id := int64(2); id <= 5; id++ {
		if s := m.Traded[id].Stays; len(s) != 1 || s[0][1]-s[0][0] != 60 {
			t.Errorf("job %d of 60 s ran in %v, want 60 s on a processor of its own", id, s)
		}
	}
}

// TestWideHosts checks that clearings sell the processors of hosts with two each, and that the
// nodes of a job are on distinct hosts. At 100 s, the jobs 1 and 3 start on the first host and
// job 2 on the second. At 200 s, job 4 bids most and needs both hosts, so job 3 moves to the
// second host. It starts again at once, after the restore time. Job 5 bids more than the price,
// but only one unit is left.
func TestWideHosts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"spot", "call"} {
		o, factory, price := policytest.Options{"every": 100.0, "restore": 5.0, "losers": "leave"}, newCall, 5.05e6
		if name == "spot" {
			o["notice"], o["fill"], o["interrupted"], factory, price = 0.0, false, "restart", newSpot, 1e5
		}
		p, err := factory(o.Decode, nil, nil)
		check(t, err)
		m := policytest.Deal(t, 2, 2, p, "exclusive", "bid", []policytest.Trade{
			{ID: 1, Nodes: 1, Runtime: 1000, Deadline: 5000, Budget: 30e6},
			{ID: 2, Nodes: 1, Runtime: 50, Deadline: 5000, Budget: 1e6},
			{ID: 3, Nodes: 1, Runtime: 500, Deadline: 5000, Budget: 5e6},
			{ID: 4, Submit: 160, Nodes: 2, Runtime: 60, Deadline: 5000, Budget: 4.8e6},
			{ID: 5, Submit: 160, Nodes: 2, Runtime: 60, Deadline: 5000, Budget: 1.8e6},
		})
		want := map[int64]string{1: "[[100 1100]]", 2: "[[100 150]]", 3: "[[100 200] [200 605]]", 4: "[[200 260]]", 5: "[]"}
		for id, want := range want {
			times := [][2]float64{}
			for _, s := range m.Traded[id].Stays {
				times = append(times, [2]float64{s[0], s[1]})
			}
			if got := fmt.Sprint(times); got != want {
				t.Errorf("%s: job %d ran in %s, want %s", name, id, got, want)
			}
		}
		if line := m.Cleared[1]; line["price"] != price || line["units"] != 4 || line["offered"] != 4 {
			t.Errorf("%s: the clearing at 200 s is %v, want 4 of 4 units at %v", name, line, price)
		}
		if got := m.Traded[5].Refused; got != doesNotFit {
			t.Errorf("%s: job 5 is refused: %q, want %q", name, got, doesNotFit)
		}
	}
}

// TestWideLoser checks that a bid for two nodes that pays only one of the two asks is the highest
// losing bid, which affects the price of job 1: the midpoint of 3 and 4 million nano-dollars. Only
// job 3, which pays neither ask, is rejected at once.
func TestWideLoser(t *testing.T) {
	t.Parallel()
	p, err := newCall(policytest.Options{"every": 100.0, "asks": []float64{0.001, 0.005}}.Decode, nil, nil)
	check(t, err)
	m := policytest.Deal(t, 2, 1, p, "exclusive", "bid", []policytest.Trade{
		{ID: 1, Nodes: 1, Runtime: 50, Deadline: 300, Budget: 200e3},
		{ID: 2, Nodes: 2, Runtime: 50, Deadline: 300, Budget: 300e3},
		{ID: 3, Nodes: 2, Runtime: 50, Deadline: 300, Budget: 99e3},
	})
	if line := m.Cleared[0]; line["price"] != 3.5e6 || line["units"] != 1 {
		t.Errorf("the clearing is %v, want 1 unit at 3.5e6", line)
	}
	for id, want := range map[int64]contracts.Reason{1: contracts.None, 2: contracts.Outbid, 3: belowAsks} {
		if got := m.Traded[id].Refused; got != want {
			t.Errorf("job %d is refused: %q, want %q", id, got, want)
		}
	}
}
