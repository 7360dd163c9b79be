package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"bourse/experiments/stats"
)

// TestReach checks that 95 % of the differences of two means lie within reach for any sizes
// of the two samples, including 2 and 200 values next to 5.
func TestReach(t *testing.T) {
	t.Parallel()
	const seed, draws = 44, 4000
	rng := rand.New(rand.NewPCG(seed, 0))
	mean := func(n int) (xs []float64) {
		for range n {
			xs = append(xs, 3+0.5*rng.NormFloat64())
		}
		return xs
	}
	for _, n := range []int{2, 5, 40, 200} {
		within := 0
		for range draws {
			ours, theirs := mean(n), mean(5)
			if math.Abs(stats.Mean(ours)-stats.Mean(theirs)) <= stats.Reach(stats.Deviation(ours), n, 5, 0.05) {
				within++
			}
		}
		if share := float64(within) / draws; math.Abs(share-0.95) > 0.015 { // allows four standard errors
			t.Errorf("seed %d, n %d: %.3f of the differences are within reach, want 0.95", seed, n, share)
		}
	}
	if got, want := stats.Reach(2, 5, 5, 0.05), 2.776445*2*math.Sqrt(0.4); math.Abs(got-want) > 1e-5 {
		t.Errorf("Reach(2, 5, 5, 0.05) = %v, want %v", got, want)
	}
}
