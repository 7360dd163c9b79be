package study

import (
	"math"
	"math/rand/v2"
	"testing"

	"bourse/market/forecast"
)

// traces is the folder of recorded files.
const traces = "../../../shared/traces"

// TestConformalCovers checks that the conformal forecast covers the price for the fraction
// g of the time, within 2 percentage points, on each series: steady arrivals, bursts, daily
// cycles and, if available, recorded prices.
func TestConformalCovers(t *testing.T) {
	t.Parallel()
	const seed = 1
	all := Drawn(func(name string) rand.Source { return rand.NewPCG(seed, uint64(name[0])) })
	recorded, notes, err := Recorded(traces)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range notes {
		t.Log(n)
	}
	all = append(all, recorded...)
	for _, s := range all {
		for _, g := range []float64{0.6, 0.9} {
			f, err := forecast.Table().New("conformal", nil)
			if err != nil {
				t.Fatal(err)
			}
			c, err := cover(s, "conformal", f, g)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", c)
			if miss := math.Abs(c.Covered - g); miss > 0.02 {
				t.Errorf("%s: covered for %.4f of the time, want %v within 0.02; seed %d", s.Name, c.Covered, g, seed)
			}
		}
	}
}
