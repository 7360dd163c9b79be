package search

import (
	"math"
	"testing"
)

// TestGolden checks that the minimum is found within the width, inside the
// interval and at either end of it.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, want := range []float64{-3, -1.25, 0, 2, 5} {
		const width = 1e-6
		got := Golden(func(x float64) float64 { return math.Abs(x - want) }, -3, 5, width)
		if math.Abs(got-want) > width {
			t.Errorf("minimum at %v, want %v", got, want)
		}
	}
}
