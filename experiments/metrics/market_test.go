package metrics_test

import (
	"math"
	"testing"

	"bourse/experiments/metrics"
)

// TestMarketMetrics checks the metrics of the market paper (§4.2, §5) on four jobs
// worked out by hand: one done, one half done and fined, one rejected, and one done
// late. Two CPUs run from 0 to 100 s; a planner could have had $20.
func TestMarketMetrics(t *testing.T) {
	t.Parallel()
	o := &metrics.Outcome{
		Capacity: 2, Optimum: 20,
		Jobs: []metrics.Job{
			{Value: 10, Arrival: 0, Work: 100, Admitted: true, Fulfilled: true, End: 50, ByDue: 100, Done: 100, Paid: 2, Chosen: true},
			{Value: 8, Arrival: 10, Work: 40, Admitted: true, Start: 10, End: 60, ByDue: 20, Done: 20, Paid: 1, Penalty: 0.5},
			{Value: 5, Arrival: 15, Work: 40, Chosen: true},
			{Value: 4, Arrival: 20, Work: 50, Admitted: true, Start: 20, End: 100, ByDue: 10, Done: 50, Paid: 4, Chosen: true},
		},
		Prices: []float64{1, 2, 3, 9}, Demand: []float64{1, 3, 2},
	}
	undefined := math.NaN()
	nobody := &metrics.Outcome{Capacity: 2, Jobs: []metrics.Job{{Value: 5, Work: 40}}}
	for _, c := range []struct {
		metric        string
		want, without float64 // without: where nobody is admitted, and nothing could be
	}{
		{"violations", 2. / 3, undefined},
		{"rejections", 1. / 4, 1},
		{"utilization", (100. + 20 + 50) / (2 * 100), undefined},
		{"demand_correlation", 0.5, undefined}, // of 1,2,3 and 1,3,2
		// U_i: 10-2, -(1-0.5), 0, -4. U_e: 10-2, 0.5*8-(1-0.5), 0, 0.2*4-4.
		{"efficiency_1", 3.5 / 20, undefined},
		{"efficiency_0", 8.3 / 20, undefined},
		{"efficiency_0.5", 5.9 / 20, undefined},
		// The planner has the first, third and last: 0.8, 0 and -1 or -0.8.
		{"mean_efficiency_1", -0.2 / 3, undefined},
		{"mean_efficiency_0", 0, undefined},
		{"mean_efficiency_0.5", -0.1 / 3, undefined},
		{"p_a", 3. / 4, 0},
		{"p_w", 1. / 3, undefined},
		{"p_d", (1 + 0.5 + 0.2) / 3, undefined},
		{"q", (0.2 + 0.125 + 1) / 3, undefined},
	} {
		found := false
		for _, m := range metrics.All() {
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
