package experiments

import (
	"math"
	"testing"

	"bourse/contracts"
	"bourse/experiments/metrics"
	"bourse/experiments/scenario"
	"bourse/workloadgen"
)

// TestEstimates checks that jobs have an estimate if any estimate of their replication is
// wrong, whether or not they are admitted, and no estimate if all are right.
func TestEstimates(t *testing.T) {
	t.Parallel()
	for _, second := range []float64{300, 400} {
		jobs := []metrics.Job{
			{Job: &workloadgen.Job{ID: 1, Runtime: 500, Estimate: 500}},
			{Job: &workloadgen.Job{ID: 2, Runtime: 300, Estimate: second}},
			{Job: &workloadgen.Job{ID: 3, Runtime: 100, Estimate: 100}, Contract: contracts.Result{Outcome: contracts.Fulfilled}},
		}
		for i, row := range jobRows(new(scenario.Configuration), "be", 0, jobs, false) {
			got, want := math.NaN(), jobs[i].Estimate
			if second == 300 {
				want = math.NaN()
			}
			if row.Estimate != nil {
				got = *row.Estimate
			}
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("estimates 500, %v, 100: that of job %s is %v, want %v; NaN is none", second, row.Job, got, want)
			}
		}
	}
}
