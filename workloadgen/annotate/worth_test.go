package annotate

import (
	"math/rand/v2"
	"testing"

	"bourse/workloadgen"
)

// TestExactValues checks that budgets and penalty rates are exact products of the decimals in a
// file, rounded toward zero to micro-dollars. None is a micro-dollar too low because the
// float64 product is slightly smaller.
func TestExactValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		price, budget float64
		urgency       *Urgency
		job           workloadgen.Job
		value, rate   float64
	}{
		{"price x work", 0.0003, 0, nil, workloadgen.Job{Worth: 1, Runtime: 5, Nodes: 1}, 0.0015, 0},
		{"price x processor-seconds", 0.000001, 0, nil, workloadgen.Job{Worth: 1, Runtime: 25, Nodes: 4}, 0.0001, 0},
		{"price x worth x work", 0.1, 0, nil, workloadgen.Job{Worth: 1.1, Runtime: 3, Nodes: 1}, 0.33, 0},
		{"price x runtime in tenths", 0.01, 0, nil, workloadgen.Job{Worth: 1, Runtime: 0.29, Nodes: 1}, 0.0029, 0},
		{"less than a micro-dollar", 0.0000003, 0, nil, workloadgen.Job{Worth: 1, Runtime: 5, Nodes: 1}, 0.000001, 0},
		{"budget of one job", 0, 0.29, nil, workloadgen.Job{Worth: 0.7, Runtime: 0.1, Nodes: 3}, 0.29, 0},
		{
			"urgency", 0, 0,
			&Urgency{High: 1, Deadline: Factor{2, 1, 1}, SLA: true, Budget: Factor{1.1, 1, 1}, Penalty: Factor{3, 1, 1}, BudgetOf: "runtime_procs", PenaltyOf: "procs", Price: 0.0003, Rate: 0.1},
			workloadgen.Job{Runtime: 5, Nodes: 1}, 0.00165, 0.3,
		},
		{
			"urgency, means", 0, 0,
			&Urgency{High: 1, Deadline: Factor{2, 1, 1}, SLA: true, Budget: Factor{0.1, 3, 1.1}, Penalty: Factor{1.1, 3, 1}, BudgetOf: "runtime", PenaltyOf: "one", Price: 1, Rate: 1},
			workloadgen.Job{Runtime: 1, Nodes: 1}, 0.33, 3.3,
		},
	} {
		o := Options{Price: c.price, Budget: c.budget, Urgency: c.urgency}
		plan, _, err := o.Apply(workloadgen.Plan{c.job}, rand.NewPCG(1, 1))
		if err != nil {
			t.Fatal(err)
		}
		if got := plan[0]; got.Value != c.value || got.PenaltyRate != c.rate {
			t.Errorf("%s: value %v and penalty rate %v, want %v and %v", c.name, got.Value, got.PenaltyRate, c.value, c.rate)
		}
	}
}
