package metrics_test

import (
	"math"
	"testing"

	"bourse/contracts"
	"bourse/experiments/metrics"
)

// TestLibraMetrics checks the metrics of the Libra papers on five jobs computed by hand (spec
// 7): one done in time, one late, one rejected, one stopped early, and an urgent one in time.
func TestLibraMetrics(t *testing.T) {
	t.Parallel()
	jobs := []metrics.Job{
		job(plan{Arrival: 10, Runtime: 20, Nodes: 2}, settled{Outcome: contracts.Fulfilled, Ended: 70, Paid: dollars(5)}, contract{Done: 40}),
		job(plan{Arrival: 20, Runtime: 10, Nodes: 1}, settled{Outcome: contracts.Late, Ended: 99, Owed: dollars(3), Penalty: dollars(1)}, contract{Done: 10}),
		job(plan{Arrival: 30, Runtime: 10, Nodes: 1}, settled{Outcome: contracts.Refused}, contract{}),
		job(plan{Arrival: 40, Runtime: 10, Nodes: 1}, settled{Outcome: contracts.Late, Ended: 60}, contract{Done: 9}),
		job(plan{Arrival: 50, Runtime: 50, Nodes: 1, Urgent: true}, settled{Outcome: contracts.Fulfilled, Ended: 100, Paid: dollars(7)}, contract{Done: 50}),
	}
	for _, c := range []struct {
		metric        string
		all, withoutU float64 // value without the urgent job; NaN means undefined
	}{
		{"deadlines_fulfilled", 40, 25},
		{"deadlines_fulfilled_high", 100, math.NaN()},
		{"deadlines_fulfilled_low", 25, math.NaN()},
		{"slowdown", 2, 3},
		{"slowdown_high", 1, math.NaN()},
		{"slowdown_low", 3, math.NaN()},
		{"completed", 3, 2},
		{"utility", 9, 2},
	} {
		found := false
		for _, m := range metrics.All() {
			if m.Name != c.metric {
				continue
			}
			found = true
			for _, x := range []struct {
				jobs []metrics.Job
				want float64
			}{{jobs, c.all}, {jobs[:4], c.withoutU}} {
				got, ok := m.Of(&metrics.Outcome{Jobs: x.jobs})
				if ok == math.IsNaN(x.want) || ok && math.Abs(got-x.want) > 1e-12 {
					t.Errorf("%s of %d jobs = %v, %v, want %v", c.metric, len(x.jobs), got, ok, x.want)
				}
			}
		}
		if !found {
			t.Errorf("no metric is called %s", c.metric)
		}
	}
}

// TestNoneFulfilled checks that slowdown is undefined if no job was done in time, and that
// it does not count jobs with an unknown runtime.
func TestNoneFulfilled(t *testing.T) {
	t.Parallel()
	late := job(plan{Runtime: 1, Nodes: 1}, settled{Outcome: contracts.Late, Ended: 5}, contract{})
	unknown := job(plan{}, settled{Outcome: contracts.Fulfilled, Ended: 5}, contract{})
	for _, jobs := range [][]metrics.Job{nil, {late}, {unknown}} {
		if x, ok := metrics.Slowdown.Of(&metrics.Outcome{Jobs: jobs}); ok {
			t.Errorf("slowdown of %v = %v, want none", jobs, x)
		}
	}
}
