package experiments

import (
	"testing"

	"bourse/experiments/metrics"
)

// TestBounds checks that the interval of a metric lies within the metric's bounds. An interval
// without bounds must not change: the efficiency of be for inelastic users is near 0 and can be
// negative. With two replications, intervals are wide.
func TestBounds(t *testing.T) {
	t.Parallel()
	e := paper(t, 2)
	s := run(t, e, 2, nil)
	bounded := make(map[string]metrics.Bound)
	for _, m := range metrics.All() {
		bounded[m.Name] = m.Bound
	}
	at, below := 0, 0
	for _, r := range s.SummaryRows() {
		if r.Lo95 == nil {
			continue
		}
		lo, hi := bounded[r.Metric].Ends()
		if *r.Lo95 < lo || *r.Hi95 > hi || *r.Lo95 > *r.Mean || *r.Hi95 < *r.Mean {
			t.Errorf("%s of %s, %s: %v in [%v,%v], want that in [%v,%v]", r.Metric, r.Admission, r.Configuration, *r.Mean, *r.Lo95, *r.Hi95, lo, hi)
		}
		if *r.Lo95 == lo || *r.Hi95 == hi {
			at++
		}
		if r.Metric == "efficiency_1" && *r.Lo95 < 0 {
			below++
		}
	}
	if at == 0 || below == 0 {
		t.Errorf("%d intervals end at a bound, %d of efficiency are below 0: want some", at, below)
	}
}
