package experiments

import (
	"context"
	"testing"

	"bourse/experiments/metrics"
	"bourse/experiments/papers"
	"bourse/experiments/scenario"
)

// TestPromises checks that every predictor predicts the same events. The fraction of promises
// kept must be the same for all predictors, but the promised probability may differ. No
// predictions are requested if no figure shows a metric about promises.
func TestPromises(t *testing.T) {
	t.Parallel()
	outcomes := func(sets ...string) []*metrics.Outcome {
		sets = append(sets, "sweep.0.values=[6]", "replications=1", "base.workload.model.every=7200")
		e, err := scenario.Parse("promises", papers.Presets()["volunteers-promises"], scenario.Known{}, sets...)
		if err != nil {
			t.Fatal(err)
		}
		var all []*metrics.Outcome
		if err := Each(context.Background(), &e, Options{}, func(r *Replication) error {
			all = append(all, &r.Runs[0].Outcome)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	all := outcomes()
	if len(all) != 4 {
		t.Fatalf("%d predictors", len(all))
	}
	scores := map[float64]bool{}
	for _, o := range all {
		if len(o.Promises) != asked {
			t.Fatalf("%d promises, want %d", len(o.Promises), asked)
		}
		for i, p := range o.Promises {
			if p.Kept != all[0].Promises[i].Kept {
				t.Fatalf("promise %d is of another job or host", i)
			}
		}
		score, ok := metrics.Brier.Of(o)
		if !ok || score <= 0 || score >= 0.5 {
			t.Errorf("Brier score %v, %v", score, ok)
		}
		scores[score] = true
	}
	if len(scores) != len(all) {
		t.Errorf("%d scores of %d predictors", len(scores), len(all))
	}
	for _, o := range outcomes("figure.metrics=[queued]") {
		if o.Promises != nil {
			t.Error("promises that nobody sees")
		}
	}
}
