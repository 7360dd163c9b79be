package forecast

import (
	"math"
	"testing"

	"bourse/market"

	"pgregory.net/rapid"
)

// TestFit checks that no line near the regression line has a smaller loss, and that at most a
// fraction 1-g of the pairs lies above the line, and at most g below it.
func TestFit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		price := rapid.Map(rapid.IntRange(0, 12), func(n int) float64 { return float64(n) / 4 })
		r := &regression{}
		for range rapid.IntRange(2, 30).Draw(t, "n") {
			r.pairs = append(r.pairs, pair{price.Draw(t, "x"), price.Draw(t, "y")})
		}
		g := rapid.Float64Range(0.01, 0.99).Draw(t, "g")
		a, b := r.fit(g)
		least := r.loss(g, a, b)
		for _, da := range []float64{-1, -1e-3, 0, 1e-3, 1} {
			for _, db := range []float64{-1, -1e-3, 0, 1e-3, 1} {
				if loss := r.loss(g, a+da, b+db); loss < least-1e-9 {
					t.Fatalf("%v + %v x has loss %v, %v + %v x has %v", a, b, least, a+da, b+db, loss)
				}
			}
		}
		above, below := 0, 0
		for _, p := range r.pairs {
			switch u := p.y - a - b*p.x; {
			case u > 1e-9:
				above++
			case u < -1e-9:
				below++
			}
		}
		if n := float64(len(r.pairs)); float64(above) > (1-g)*n+1e-9 || float64(below) > g*n+1e-9 {
			t.Fatalf("%d of %v lie above and %d below %v + %v x, at g %v", above, n, below, a, b, g)
		}
	})
}

// TestWalk checks that samples are the prices at their times.
func TestWalk(t *testing.T) {
	t.Parallel()
	r := &regression{RegressionOptions: RegressionOptions{Lag: 0.25, Samples: 4}}
	r.stays = []market.Stay{{Price: 1e9, Seconds: 10}, {Price: 2e9, Seconds: 20}, {Price: 3e9, Seconds: 10}}
	r.sample(40) // at 0, 10, 20 and 30 s, and 10 s later
	want := []pair{{1, 2}, {2, 2}, {2, 3}, {3, 3}}
	for i, p := range r.pairs {
		if p != want[i] {
			t.Errorf("pair %d is %v, want %v", i, p, want[i])
		}
	}
	if len(r.pairs) != len(want) || math.IsNaN(r.pairs[0].x) {
		t.Errorf("%d pairs, want %d", len(r.pairs), len(want))
	}
}
