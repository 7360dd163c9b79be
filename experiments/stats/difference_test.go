package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// TestDifference compares the test of pairs with [PairedT], and Welch's test with its formulas.
func TestDifference(t *testing.T) {
	t.Parallel()
	x, y := []float64{1.1, 2.3, 2.9, 4.2, 5}, []float64{0.9, 2, 3.1, 3.6, 4.1}
	d, ok := Pairs(x, y)
	one, _ := PairedT(x, y)
	if lo, hi := d.Interval(0.05); !ok || math.Abs(d.P()-one.TwoSided) > 1e-12 || math.Abs(d.Effect*math.Sqrt(5)-one.T) > 1e-12 || math.Abs((lo+hi)/2-0.36) > 1e-12 || lo > 0 {
		t.Errorf("pairs: %+v, p %v, [%v, %v], want those of %+v", d, d.P(), lo, hi, one)
	}
	z := []float64{0.5, 1, 2, 9}
	d, ok = Welch(x, z)
	vx, vz := stat.Variance(x, nil)/5, stat.Variance(z, nil)/4
	want := (stat.Mean(x, nil) - stat.Mean(z, nil)) / math.Sqrt(vx+vz)
	df := (vx + vz) * (vx + vz) / (vx*vx/4 + vz*vz/3)
	if !ok || d.N != 4 || math.Abs(d.Mean/d.err-want) > 1e-12 || math.Abs(d.dist.Nu-df) > 1e-12 {
		t.Errorf("Welch: %+v, want t %v on %v", d, want, df)
	}
	for _, same := range [][2][]float64{{{1}, {2}}, {{1, 2}, {0, 1}}, {{}, {}}} {
		if d, ok := Pairs(same[0], same[1]); ok {
			t.Errorf("%v: %+v, want no test", same, d)
		}
	}
	if d, ok := Welch([]float64{1, 1}, []float64{2, 2}); ok || d.Mean != -1 {
		t.Errorf("constants: %+v, %v", d, ok)
	}
}

// TestPower compares the power of t tests with the tables for 80 % of Cohen (1988) and G*Power,
// and with the results of tests of random samples.
func TestPower(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		effect float64
		paired bool
		n      int
	}{{0.2, true, 199}, {0.5, true, 34}, {0.8, true, 15}, {-0.5, true, 34}, {0.2, false, 394}, {0.5, false, 64}, {0.8, false, 26}, {0.01, true, 78491}} {
		if n, ok := SampleFor(c.effect, 0.8, c.paired, 0.05); !ok || n != c.n {
			t.Errorf("effect %v, paired %v: n = %d, want %d", c.effect, c.paired, n, c.n)
		}
	}
	if p := power(0, 7, true, 0.05); math.Abs(p-0.05) > 1e-5 {
		t.Errorf("power of no effect %v, want the level", p)
	}
	if n, ok := SampleFor(0, 0.8, true, 0.05); ok {
		t.Errorf("no effect is found with %d", n)
	}
	const seed, trials = 11, 4000
	rng := rand.New(rand.NewPCG(seed, 0))
	found := [2]int{}
	for range trials {
		x, y := make([]float64, 9), make([]float64, 9)
		for i := range x {
			x[i], y[i] = 0.8+rng.NormFloat64(), 0
		}
		if d, _ := Pairs(x, y); d.P() <= 0.05 {
			found[0]++
		}
		for i := range y {
			y[i] = rng.NormFloat64()
		}
		if d, _ := Welch(x, y); d.P() <= 0.05 {
			found[1]++
		}
	}
	for i, paired := range []bool{true, false} {
		want := power(0.8, 9, paired, 0.05)
		if got := float64(found[i]) / trials; math.Abs(got-want) > 4*math.Sqrt(want*(1-want)/trials)+0.005 {
			t.Errorf("seed %d: paired %v: power %v, want %v", seed, paired, got, want)
		}
	}
}

// TestEquivalence checks that two one-sided tests find values within a margin equivalent, and
// values at the end of the margin only with the probability of the level.
func TestEquivalence(t *testing.T) {
	t.Parallel()
	const seed, trials = 12, 4000
	rng := rand.New(rand.NewPCG(seed, 0))
	alike := map[float64]int{}
	for range trials {
		for _, truth := range []float64{0, 1} {
			x, y := make([]float64, 20), make([]float64, 20)
			for i := range x {
				x[i] = truth + rng.NormFloat64()
			}
			if d, _ := Pairs(x, y); d.Beyond(1) <= 0.05 {
				alike[truth]++
			}
		}
	}
	if edge, inside := float64(alike[1])/trials, float64(alike[0])/trials; math.Abs(edge-0.05) > 0.015 || inside < 0.95 {
		t.Errorf("seed %d: alike at the margin %v, want 0.05; at 0 %v, want nearly always", seed, edge, inside)
	}
}
