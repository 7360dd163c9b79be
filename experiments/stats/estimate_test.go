package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"bourse/experiments/stats"
)

// covers simulates experiments. It returns the fraction in which the interval at alpha
// contains the true value, and the number of experiments with an interval. If the test
// fails, it prints the seed.
func covers(t *testing.T, alpha, truth float64, draw func(*rand.Rand) stats.Estimate) (part float64, n int) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	rng := rand.New(rand.NewPCG(seed, 0))
	held := 0
	for range 2000 {
		e := draw(rng)
		if lo, hi, ok := e.Interval(alpha); ok {
			n++
			if lo <= truth && truth <= hi {
				held++
			}
		}
	}
	return float64(held) / float64(n), n
}

// TestCoverage checks that every interval contains the true value as often as stated,
// within the error of 2,000 draws, on normal, skewed and two-valued data for which theory
// guarantees it. Student's interval on few skewed values has a lower coverage, and the test
// uses the known coverage.
func TestCoverage(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	sample := func(n int, x func(*rand.Rand) float64) func(*rand.Rand) []float64 {
		return func(rng *rand.Rand) []float64 {
			xs := make([]float64, n)
			for i := range xs {
				xs[i] = x(rng)
			}
			return xs
		}
	}
	normal := func(rng *rand.Rand) float64 { return 3 + rng.NormFloat64() }
	skewed := func(rng *rand.Rand) float64 { return rng.ExpFloat64() }
	rare := func(rng *rand.Rand) float64 {
		if rng.Float64() < 0.02 {
			return 1
		}
		return 0
	}
	mean := func(lo, hi float64, draw func(*rand.Rand) []float64) func(*rand.Rand) stats.Estimate {
		return func(rng *rand.Rand) stats.Estimate { return ofMean(draw(rng), lo, hi) }
	}
	for _, c := range []struct {
		name               string
		alpha, truth, want float64
		draw               func(*rand.Rand) stats.Estimate
	}{
		{"mean of 5 normal", 0.05, 3, 0.95, mean(-inf, inf, sample(5, normal))},
		{"mean of 5 normal, corrected for 25", 0.002, 3, 0.998, mean(-inf, inf, sample(5, normal))},
		{"mean of 100 exponential", 0.05, 1, 0.94, mean(0, inf, sample(100, skewed))},
		{"mean of 5 exponential", 0.05, 1, 0.86, mean(0, inf, sample(5, skewed))},
		{"ratio of means, 8 normal", 0.05, 2, 0.95, func(rng *rand.Rand) stats.Estimate {
			xs, ys := make([]float64, 8), make([]float64, 8)
			for i := range xs {
				ys[i] = 10 + rng.NormFloat64()
				xs[i] = 2*ys[i] + rng.NormFloat64()
			}
			e, _ := stats.Fieller(xs, ys)
			return e
		}},
		{"difference of ratios, 20", 0.05, 0.5, 0.94, func(rng *rand.Rand) stats.Estimate {
			xs, ys := make([][2]float64, 20), make([][2]float64, 20)
			for i := range xs {
				for j, ratio := range []float64{2, 1.5} {
					ys[i][j] = 5 + rng.NormFloat64()
					xs[i][j] = ratio*ys[i][j] + rng.NormFloat64()
				}
			}
			ratio := func(j int) stats.Sample {
				s, _ := stats.Jackknife(20, func(out int) (float64, bool) {
					var x, y float64
					for i := range xs {
						if i != out {
							x, y = x+xs[i][j], y+ys[i][j]
						}
					}
					return x / y, y != 0
				})
				return s
			}
			return ratio(0).Plus(-1, ratio(1)).Estimate(stats.Quantity{})
		}},
		{"spread of five means", 0.05, 0.3, 0.95, func(rng *rand.Rand) stats.Estimate { return spread(rng, 0, 0.1, 0.15, 0.2, 0.3) }},
		{"spread of what is flat", 0.05, 0, 0.95, func(rng *rand.Rand) stats.Estimate { return spread(rng, 0, 0, 0, 0, 0) }},
		{"spread less spread", 0.05, 0.5, 0.95, func(rng *rand.Rand) stats.Estimate {
			return spread(rng, 0, 0.2, 1).Less(spread(rng, 0.5, 0))
		}},
		{"ratio of deviations, 20", 0.05, math.Log(2), 0.93, func(rng *rand.Rand) stats.Estimate {
			xs, ys := make([]float64, 20), make([]float64, 20)
			for i := range xs {
				xs[i], ys[i] = 2*rng.NormFloat64(), rng.NormFloat64()
			}
			return logSD(xs).Plus(-1, logSD(ys)).Estimate(stats.Quantity{})
		}},
		{"mean by deviation, 30", 0.05, 2, 0.93, func(rng *rand.Rand) stats.Estimate {
			xs := sample(30, func(rng *rand.Rand) float64 { return 2 + rng.NormFloat64() })(rng)
			s, _ := stats.Jackknife(len(xs), func(out int) (float64, bool) {
				kept := slices.Clone(xs)
				if out >= 0 {
					kept = slices.Delete(kept, out, out+1)
				}
				return stats.Mean(kept) / stats.Deviation(kept), true
			})
			return s.Estimate(stats.Quantity{})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			part, n := covers(t, c.alpha, c.truth, c.draw)
			if slack := 4 * math.Sqrt(c.want*(1-c.want)/float64(n)); n < 1000 || part < c.want-slack {
				t.Errorf("%.4f of %d intervals hold the truth, want %v", part, n, c.want)
			}
		})
	}
	// Draws in which all values are equal by chance are rare and are counted with the
	// others.
	alike := 0
	part, n := covers(t, 0.05, 0.02, func(rng *rand.Rand) stats.Estimate {
		xs := sample(200, rare)(rng)
		e := ofMean(xs, 0, 1)
		if e.Value == 0 {
			alike++
		}
		return e
	})
	if alike == 0 || part < 0.88 {
		t.Errorf("rare: %d draws all alike, %.4f of %d hold the truth, want 0.88", alike, part, n)
	}
}

func spread(rng *rand.Rand, truth ...float64) stats.Estimate {
	all := make([]stats.Sample, len(truth))
	for i := range all {
		all[i].Parts = make([]float64, 10)
	}
	for r := range 10 {
		common := 5 * rng.NormFloat64()
		for i := range all {
			all[i].Parts[r] = common + truth[i] + 0.1*rng.NormFloat64()
		}
	}
	for i := range all {
		all[i].Value = stats.Mean(all[i].Parts)
	}
	return stats.Spread(all)
}

func logSD(xs []float64) stats.Sample {
	s, _ := stats.Jackknife(len(xs), func(out int) (float64, bool) {
		var kept []float64
		for i, x := range xs {
			if i != out {
				kept = append(kept, x)
			}
		}
		return math.Log(stats.Deviation(kept)), true
	})
	return s
}

// TestUnseen checks the interval of values that never varied. After 0 events in n trials, a
// probability p is missed with (1-p)^n, so the bound on p solves (1-p)^n = alpha, which is
// about 3/n at 5 %.
func TestUnseen(t *testing.T) {
	t.Parallel()
	e := ofMean(make([]float64, 100), 0, 1)
	lo, hi, _ := e.Interval(0.05)
	near(t, "lo", lo, 0, 0)
	near(t, "hi", math.Pow(1-hi, 100), 0.05, 1e-12)
	n, _ := e.Needed(0.05, 0.01)
	near(t, "needed", float64(n), math.Ceil(math.Log(0.05)/math.Log(0.99)), 0)
	for _, e := range []stats.Estimate{ofMean([]float64{2, 2, 2}, 0, math.Inf(1)), ofMean([]float64{2}, 0, 3)} {
		if lo, hi, ok := e.Interval(0.05); ok {
			t.Errorf("[%v, %v] of what nothing bounds, or of one value", lo, hi)
		}
	}
}

// TestLevel compares p-values, which are the levels at which intervals reach a bound, with the
// paired t test. It also checks the number of replications needed: the interval of this number
// of replications with the same deviation must be narrow enough.
func TestLevel(t *testing.T) {
	t.Parallel()
	zero := make([]float64, 10)
	diffs := make([]float64, 10)
	for i := range diffs {
		diffs[i] = extra[1][i] - extra[0][i]
	}
	test, _ := stats.PairedT(diffs, zero)
	e := ofMean(diffs, math.Inf(-1), math.Inf(1))
	near(t, "p", e.Level(func(lo, _ float64) bool { return lo > 0 }), test.TwoSided, 1e-9)
	near(t, "p of the other side", e.Level(func(_, hi float64) bool { return hi < 0 }), 1, 0)
	n, ok := e.Needed(0.05, 0.5)
	reach := func(n int) float64 { return stats.CriticalT(0.025, n-1) * 1.229995 / math.Sqrt(float64(n)) }
	if !ok || reach(n) > 0.5 || reach(n-1) <= 0.5 {
		t.Errorf("%d are needed for ±0.5, where the interval reaches %v, and %v with one less", n, reach(n), reach(n-1))
	}
	if _, ok := e.Needed(0.05, 1e-9); ok {
		t.Error("enough replications for ±1e-9")
	}
}

// TestFieller checks the interval by its definition: at its ends, the mean of x - r y is
// just significant. It must be unbounded if the denominator may be 0.
func TestFieller(t *testing.T) {
	t.Parallel()
	xs, ys := []float64{4, 5.5, 6.1, 7, 4.4}, []float64{2, 2.4, 3.3, 3.4, 2.5}
	e, ok := stats.Fieller(xs, ys)
	if !ok {
		t.Fatal("no ratio")
	}
	near(t, "ratio", e.Value, 27/13.6, 1e-12)
	lo, hi, _ := e.Interval(0.01)
	for _, r := range []float64{lo, hi} {
		scaled := make([]float64, len(ys))
		for i, y := range ys {
			scaled[i] = r * y
		}
		test, _ := stats.PairedT(xs, scaled)
		near(t, "p at an end", test.TwoSided, 0.01, 1e-9)
	}
	half := make([]float64, len(ys))
	for i, y := range ys {
		half[i] = 1.9 * y
	}
	test, _ := stats.PairedT(xs, half)
	near(t, "p of more than 1.9", e.Level(func(lo, _ float64) bool { return lo > 1.9 }), test.TwoSided, 1e-9)
	e, _ = stats.Fieller(xs, []float64{1, -1, 0.5, -0.4, 0.2})
	if lo, hi, ok := e.Interval(0.05); !ok || !math.IsInf(lo, -1) || !math.IsInf(hi, 1) {
		t.Errorf("[%v, %v], though the denominator may be 0", lo, hi)
	}
}

func ofMean(xs []float64, lo, hi float64) stats.Estimate {
	return stats.Sample{Value: stats.Mean(xs), Parts: xs}.Estimate(stats.Quantity{Lo: lo, Hi: hi})
}

// TestJackknife checks that the pseudo-values of a mean are the values themselves.
func TestJackknife(t *testing.T) {
	t.Parallel()
	xs := extra[0]
	s, ok := stats.Jackknife(len(xs), func(out int) (float64, bool) {
		sum, n := 0.0, 0.0
		for i, x := range xs {
			if i != out {
				sum, n = sum+x, n+1
			}
		}
		return sum / n, true
	})
	for i := range xs {
		near(t, "pseudo-value", s.Parts[i], xs[i], 1e-12)
	}
	if _, undefined := stats.Jackknife(3, func(out int) (float64, bool) { return 1, out != 2 }); !ok || undefined {
		t.Error("a pseudo-value of what is undefined")
	}
}

// TestLess checks that the interval of a difference combines two intervals that each use
// half of the error probability.
func TestLess(t *testing.T) {
	t.Parallel()
	a, b := ofMean(extra[0], math.Inf(-1), math.Inf(1)), ofMean(extra[1], math.Inf(-1), math.Inf(1))
	lo, hi, _ := a.Less(b).Interval(0.05)
	alo, ahi, _ := a.Interval(0.025)
	blo, bhi, _ := b.Interval(0.025)
	near(t, "lo", lo, alo-bhi, 1e-12)
	near(t, "hi", hi, ahi-blo, 1e-12)
	n, ok := a.Less(b).Needed(0.05, (hi-lo)/2)
	if !ok || n != 10 {
		t.Errorf("%d are needed for the interval that 10 have", n)
	}
}

// TestNeededOfSpread checks that the number of replications needed for an interval equals
// the actual number if the two farthest series vary most.
func TestNeededOfSpread(t *testing.T) {
	t.Parallel()
	e := stats.Spread([]stats.Sample{{Value: stats.Mean(extra[0]), Parts: extra[0]}, {Value: stats.Mean(extra[1]), Parts: extra[1]}, {Parts: make([]float64, 10)}})
	_, hi, _ := e.Interval(0.05)
	if n, ok := e.Needed(0.05, (hi-e.Value)*(1+1e-9)); !ok || n != 10 {
		t.Errorf("%d are needed for the interval that 10 have", n)
	}
}

// TestMeanWithout checks the means of all values except one.
func TestMeanWithout(t *testing.T) {
	t.Parallel()
	of := stats.MeanWithout([]float64{1, 2, 6})
	if got := fmt.Sprint(of(-1), of(0), of(1), of(2)); got != "3 4 3.5 1.5" {
		t.Errorf("means of 1, 2 and 6 without one: %s", got)
	}
}
