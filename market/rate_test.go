package market

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestDollars checks that a rate is rounded toward zero, that a decimal of up to nine places is
// represented exactly, and that invalid rates are rejected.
func TestDollars(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		x    float64
		want Rate
	}{
		{0, 0}, {1, 1e9}, {0.25, 25e7}, {0.1, 1e8}, {0.29, 29e7}, {1.001, 1001e6},
		{1e-9, 1}, {9.99e-10, 0}, {1.9999e-9, 1}, {1.0 / 3, 333333333}, {100.0 / 7, 14285714285},
		{MaxRate.Float64(), MaxRate},
	} {
		if got, err := Dollars(c.x); got != c.want || err != nil {
			t.Errorf("Dollars(%v) = %d, %v, want %d", c.x, got, err, c.want)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, -5e-324, 1e7, math.MaxFloat64} {
		if got, err := Dollars(x); err == nil {
			t.Errorf("Dollars(%v) = %d, want an error", x, got)
		}
	}
}

// TestDollarsIsTheHighestBelow checks the definition: the highest rate not above x. It also
// checks that converting a rate to float64 and back does not change it.
func TestDollarsIsTheHighestBelow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.OneOf(
			rapid.Float64Range(0, 1e-6), rapid.Float64Range(0, 10), rapid.Float64Range(0, 9e6),
			rapid.Map(rapid.Int64Range(0, int64(MaxRate)), func(r int64) float64 { return Rate(r).Float64() }),
		).Draw(t, "x")
		r, err := Dollars(x)
		if err != nil {
			t.Fatal(err)
		}
		if r.Float64() > x || r < MaxRate && (r+1).Float64() <= x {
			t.Fatalf("Dollars(%v) = %d, not the highest rate below", x, r)
		}
		if back, err := Dollars(r.Float64()); back != r || err != nil {
			t.Fatalf("Dollars(%v) = %d, %v, want %d again", r, back, err, r)
		}
	})
}
