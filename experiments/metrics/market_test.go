package metrics_test

import (
	"math"
	"testing"

	"bourse/contracts"
	"bourse/experiments/metrics"
)

// TestMarketMetrics compares the metrics of the market paper (§4.2, §5) with values computed by
// hand for four jobs: one done, one half done with a penalty, one rejected, and one done late.
// Two CPUs run from 0 to 100 s. The optimum U* is $20.
func TestMarketMetrics(t *testing.T) {
	t.Parallel()
	refused := job(plan{Value: 5, Arrival: 15, Runtime: 40, Nodes: 1}, settled{Outcome: contracts.Refused}, contract{})
	o := &metrics.Outcome{
		Capacity: 2, Optimum: 20,
		Jobs: []metrics.Job{
			job(plan{Value: 10, Arrival: 0, Runtime: 50, Nodes: 2}, settled{Outcome: contracts.Fulfilled, Ended: 50, ByDue: 100, Paid: dollars(2)}, contract{Done: 100}),
			job(plan{Value: 8, Arrival: 10, Runtime: 40, Nodes: 1}, settled{Outcome: contracts.Late, Ended: 60, ByDue: 20, Paid: dollars(1), Penalty: dollars(0.5)}, contract{Done: 20}),
			refused,
			job(plan{Value: 4, Arrival: 20, Runtime: 50, Nodes: 1}, settled{Outcome: contracts.Late, Ended: 100, ByDue: 10, Paid: dollars(4)}, contract{Done: 50}),
		},
		Prices: []float64{1, 2, 3, 9}, Demand: []float64{1, 3, 2},
		HostPrices: [][]float64{{1, 2, 3, 9}, {2, 2, 2, 2}, {1, 2, 3, 0}, {1, 2, 3, 4}},
		HostDemand: [][]float64{{1, 3, 2}, {1, 3, 2}, {1, 1, 1}, {2, 4, 6}},
	}
	undefined := math.NaN()
	nobody := &metrics.Outcome{Capacity: 2, Jobs: []metrics.Job{refused}}
	for i := range o.Jobs {
		o.Jobs[i].Chosen = i != 1
	}
	for _, c := range []struct {
		metric        string
		want, without float64 // without: value if no job is admitted and U* is 0
	}{
		{"violations", 2. / 3, undefined},
		{"rejections", 1. / 4, 1},
		{"utilization", (100. + 20 + 50) / (2 * 100), undefined},
		{"demand_correlation", 0.5, undefined},       // correlation of 1,2,3 and 1,3,2
		{"demand_correlation_host", 0.75, undefined}, // mean of 0.5 and 1; on the other two hosts, one of the prices does not vary
		// U_i: 10-2, -(1-0.5), 0, -4. U_e: 10-2, 0.5*8-(1-0.5), 0, 0.2*4-4.
		{"efficiency_1", 3.5 / 20, undefined},
		{"efficiency_0", 8.3 / 20, undefined},
		{"efficiency_0.5", 5.9 / 20, undefined},
		// The planner completes the first, third and last job: 0.8, 0 and -1 or -0.8.
		{"mean_efficiency_1", -0.2 / 3, undefined},
		{"mean_efficiency_0", 0, undefined},
		{"mean_efficiency_0.5", -0.1 / 3, undefined},
		{"job_efficiency_1", (0.8 - 0.5/8 - 1) / 3, undefined},
		{"job_efficiency_0", (0.8 + 3.5/8 - 0.8) / 3, undefined},
		{"p_a", 3. / 4, 0},
		{"p_w", 1. / 3, undefined},
		{"p_d", (1 + 0.5 + 0.2) / 3, undefined},
		{"q", (2. + 1 + 4) / (10 + 8 + 4), undefined},
		{"q_mean", (0.2 + 0.125 + 1) / 3, undefined},
		{"revenue", 2 + 1 - 0.5 + 4, 0},
		{"welfare", 10, 0}, // only the first was done in time
	} {
		found := false
		for _, m := range metrics.With(c.metric) {
			if m.Name != c.metric {
				continue
			}
			found = true
			check := func(o *metrics.Outcome, want float64) {
				got, ok := m.Of(o)
				if ok == math.IsNaN(want) || ok && math.Abs(got-want) > 1e-12 {
					t.Errorf("%s = %v (defined: %v), want %v", m.Name, got, ok, want)
				}
			}
			check(o, c.want)
			check(nobody, c.without)
		}
		if !found {
			t.Errorf("no metric %s", c.metric)
		}
	}
}

// TestEfficiencyOfPenalties checks that a penalty counts for efficiency up to the user's
// payment, and that U* is weighted by alpha if U* for partial work differs from U* for whole
// jobs. Half of a $10 job was done, for $1 and a penalty of $4.
func TestEfficiencyOfPenalties(t *testing.T) {
	t.Parallel()
	o := &metrics.Outcome{Capacity: 1, Optimum: 10, OptimumOfParts: 20, Jobs: []metrics.Job{
		job(plan{Value: 10, Runtime: 50, Nodes: 1}, settled{Outcome: contracts.Late, Ended: 60, ByDue: 25, Paid: dollars(1), Penalty: dollars(4)}, contract{Done: 50}),
	}}
	got := metrics.Efficiency(o, 0, 0.5, 1)
	for i, want := range []float64{5. / 20, 2.5 / 15, 0} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("efficiencies %v, want 1/4, 1/6 and 0", got)
			break
		}
	}
	if o.Jobs[0].Utility(1) != 3 {
		t.Errorf("the user has %v, want $3 of the penalty", o.Jobs[0].Utility(1))
	}
}
