package fitlab

import (
	"testing"

	"bourse/workloadgen/describe"
)

// TestOptionsFor checks that the exponents of sizes are those of the log: 2^(1+Shift) is
// the smallest size and 2^(Bins+Shift) the largest.
func TestOptionsFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sizes       []float64
		bins, shift int
	}{
		{[]float64{1, 2, 4, 100}, 8, -1},  // 1 to 128
		{[]float64{8, 8, 16, 1152}, 8, 2}, // 8 to 1024
		{[]float64{4, 4}, 1, 1},           // 4
		{nil, 6, 2},                       // the paper's
	} {
		l := &describe.Log{Procs: describe.New("CPU", "processors", c.sizes)}
		if o := OptionsFor(l); o.Bins != c.bins || o.Shift != c.shift {
			t.Errorf("%v: %d bins, shift %d, want %d and %d", c.sizes, o.Bins, o.Shift, c.bins, c.shift)
		}
	}
}
