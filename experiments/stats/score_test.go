package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"bourse/experiments/stats"
)

// TestScore checks Wilson's interval against its published values: 0 and 1 of 20, and 81
// of 263 (Newcombe 1998, table I), which has the normal's critical value for Student's.
func TestScore(t *testing.T) {
	t.Parallel()
	trials := func(successes, n int) []float64 {
		xs := make([]float64, n)
		for i := range successes {
			xs[i] = 1
		}
		return xs
	}
	for _, c := range []struct {
		successes, n  int
		lo, hi, slack float64
	}{
		{81, 263, 0.2553, 0.3662, 0.0006},
		{15, 148, 0.0624, 0.1605, 0.0009},
		{0, 20, 0, 0.1611, 0.02},
		{1, 29, 0.0061, 0.1718, 0.012},
	} {
		lo, hi, ok := stats.Score(trials(c.successes, c.n), 0, 1, 0.05)
		if !ok || math.Abs(lo-c.lo) > c.slack || math.Abs(hi-c.hi) > c.slack {
			t.Errorf("%d of %d: [%.4f, %.4f], want [%.4f, %.4f]", c.successes, c.n, lo, hi, c.lo, c.hi)
		}
	}
	if _, _, ok := stats.Score([]float64{1}, 0, 1, 0.05); ok {
		t.Error("one value has an interval")
	}
}

// TestScoreLaws checks on random samples that the interval holds the mean, stays within
// its bounds, has a width, and moves with the scale.
func TestScoreLaws(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		xs, scaled := make([]float64, 2+rng.IntN(30)), []float64(nil)
		for i := range xs {
			xs[i] = min(1, max(0, 1.6*rng.Float64()-0.3))
			scaled = append(scaled, 100*xs[i]-50)
		}
		lo, hi, _ := stats.Score(xs, 0, 1, 0.05)
		from, to, _ := stats.Score(scaled, -50, 50, 0.05)
		m := stats.Mean(xs)
		if !(0 <= lo && lo <= m && m <= hi && hi <= 1 && hi-lo > 1e-6) {
			t.Fatalf("seed %d: mean %v of %v in [%v, %v]", seed, m, xs, lo, hi)
		}
		if !(math.Abs(from-(100*lo-50)) <= 1e-9) || !(math.Abs(to-(100*hi-50)) <= 1e-9) {
			t.Fatalf("seed %d: [%v, %v], scaled [%v, %v]", seed, lo, hi, from, to)
		}
	}
}

// TestScoreCoverage checks that the interval of a mean rate holds the truth as often as it
// says, less a point and what 4,000 draws leave open; of single trials, where Wilson's is
// known to dip, less two.
func TestScoreCoverage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		n, of    int     // replications, jobs in each
		p, mixed float64 // the chance of a job; its standard deviation between replications
		want     float64
	}{
		{"even", 10, 100, 0.5, 0, 0.94},
		{"near 1", 10, 100, 0.98, 0, 0.94},
		{"few", 5, 100, 0.95, 0, 0.94},
		{"many", 50, 40, 0.01, 0, 0.94},
		{"loads differ", 20, 100, 0.7, 0.15, 0.94},
		{"single trials", 30, 1, 0.9, 0, 0.93},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			seed := uint64(time.Now().UnixNano())
			rng := rand.New(rand.NewPCG(seed, 0))
			const draws = 4000
			held := 0
			for range draws {
				xs := make([]float64, c.n)
				for i := range xs {
					p := c.p + c.mixed*(2*rng.Float64()-1)*math.Sqrt(3)
					for range c.of {
						if rng.Float64() < p {
							xs[i] += 1 / float64(c.of)
						}
					}
				}
				if lo, hi, ok := stats.Score(xs, 0, 1, 0.05); ok && lo <= c.p && c.p <= hi {
					held++
				}
			}
			part := float64(held) / draws
			if slack := 4 * math.Sqrt(c.want*(1-c.want)/draws); part < c.want-slack {
				t.Errorf("seed %d: %.4f of the intervals hold the truth, want %v", seed, part, c.want)
			}
		})
	}
}
