package metrics

import (
	"math"
	"testing"
)

// TestPromises compares the Brier score and the means of promised and kept with values computed
// by hand. All three must be undefined without predictions.
func TestPromises(t *testing.T) {
	t.Parallel()
	o := &Outcome{Promises: []Promise{{0.8, true}, {0.8, false}, {0.5, true}, {1, true}}}
	for _, c := range []struct {
		m    Metric
		want float64
	}{
		{Brier, (0.04 + 0.64 + 0.25 + 0) / 4}, {Promised, 3.1 / 4}, {Kept, 0.75},
	} {
		if got, ok := c.m.Of(o); !ok || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s = %v, %v, want %v", c.m.Name, got, ok, c.want)
		}
		if _, ok := c.m.Of(new(Outcome)); ok {
			t.Errorf("%s of nothing is defined", c.m.Name)
		}
	}
}
