package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAnytimeCoverage checks by simulation how often the sequence misses the mean at any
// number of values from 5 to 200. The frequency may exceed the stated one by at most one
// percentage point, for normal, skewed and Bernoulli values. Stopping as soon as the
// interval is narrow cannot be worse, because it selects one of these numbers.
func TestAnytimeCoverage(t *testing.T) {
	t.Parallel()
	const seed, runs, first, last, alpha = 21, 1000, 5, 150, 0.05
	inf := math.Inf(1)
	for _, c := range []struct {
		name         string
		lo, hi, mean float64
		draw         func(*rand.Rand) float64
	}{
		{"normal", -inf, inf, 3, func(r *rand.Rand) float64 { return 3 + 2*r.NormFloat64() }},
		{"exponential", -inf, inf, 1, func(r *rand.Rand) float64 { return r.ExpFloat64() }},
		{"log-normal", -inf, inf, math.Exp(0.125), func(r *rand.Rand) float64 { return math.Exp(0.5 * r.NormFloat64()) }},
		{"uniform without ends", -inf, inf, 0.5, (*rand.Rand).Float64},
		{"Bernoulli, 0.5", 0, 1, 0.5, bernoulli(0.5)},
		{"Bernoulli, 0.05", 0, 1, 0.05, bernoulli(0.05)},
		{"Bernoulli, 0.98", 0, 1, 0.98, bernoulli(0.98)},
		{"skewed between ends", 0, 10, 10.0 / 6, func(r *rand.Rand) float64 { return 10 * math.Pow(r.Float64(), 5) }},
	} {
		rng := rand.New(rand.NewPCG(seed, 0))
		missed := 0
		for range runs {
			xs := make([]float64, 0, last)
			bad := false
			for len(xs) < last && !bad {
				xs = append(xs, c.draw(rng))
				if n := len(xs); n >= first && (n < 40 || n%5 == 0) {
					bad = misses(xs, c.lo, c.hi, c.mean, alpha)
				}
			}
			if bad {
				missed++
			}
		}
		share := float64(missed) / runs
		t.Logf("%s: misses %.4f", c.name, share)
		if share > alpha+0.01 {
			t.Errorf("seed %d, %s: missed in %.4f of %d runs, want at most %v and a point", seed, c.name, share, runs, alpha)
		}
	}
}

// TestAbove checks with random samples, with and without bounds, that Above agrees with the
// interval of Anytime.
func TestAbove(t *testing.T) {
	t.Parallel()
	const seed = 23
	rng := rand.New(rand.NewPCG(seed, 0))
	said := 0
	for range 400 {
		xs := make([]float64, 2+rng.IntN(100))
		shift := rng.Float64() / 2
		for i := range xs {
			xs[i] = min(1, max(-1, shift+0.4*rng.NormFloat64()))
		}
		for _, end := range []float64{1, math.Inf(1)} {
			l, _, ok := Anytime(xs, -end, end, 0.05)
			want := ok && l > 0
			if got := Above(xs, 0, -end, end, 0.05); got != want {
				t.Errorf("seed %d: %d values between ±%v are above 0: %v, want %v: the interval begins at %v", seed, len(xs), end, got, want, l)
			}
			if want {
				said++
			}
		}
	}
	if said < 100 || said > 700 {
		t.Errorf("seed %d: %d of 800 are above: too few or many to tell", seed, said)
	}
	if Above([]float64{1, 1}, -2, 0, 1, 0.05) != true {
		t.Error("values in [0,1] are not above -2")
	}
}

// misses reports whether the interval of [Anytime] excludes mean. It does not compute the
// ends.
func misses(xs []float64, lo, hi, mean, alpha float64) bool {
	if math.IsInf(lo, 0) {
		l, u, ok := Anytime(xs, lo, hi, alpha)
		return ok && (mean < l || mean > u)
	}
	up, down := make([]float64, len(xs)), make([]float64, len(xs))
	for i, x := range xs {
		up[i] = (x - lo) / (hi - lo)
		down[i] = 1 - up[i]
	}
	m := (mean - lo) / (hi - lo)
	return max(won(up, m), won(down, 1-m)) >= -math.Log(alpha/2)
}

func bernoulli(p float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		if r.Float64() < p {
			return 1
		}
		return 0
	}
}

// TestAnytime checks the sequence for few values and for values that do not vary, and that
// it narrows.
func TestAnytime(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	if _, _, ok := Anytime([]float64{1, 2}, -inf, inf, 0.05); ok {
		t.Error("two values bound a mean")
	}
	if _, _, ok := Anytime([]float64{1, 1, 1, 1, 1, 1}, -inf, inf, 0.05); ok {
		t.Error("values that do not vary bound a mean without ends")
	}
	if lo, hi, ok := Anytime(make([]float64, 50), 0, 1, 0.05); !ok || lo != 0 || hi < 0.05 || hi > 0.2 {
		t.Errorf("50 zeros of [0,1]: [%v, %v], %v, want 0 to about 0.1", lo, hi, ok)
	}
	rng := rand.New(rand.NewPCG(5, 0))
	draws := []float64{0.2, 0.9, 0.1, 0.4, 0.4, 0.3, 0.25, 0.6, 0.7}
	lo, hi, _ := Anytime(draws, 0, 1, 0.05)
	for m, want := range map[float64]bool{lo - 1e-9: true, lo + 1e-9: false, hi - 1e-9: false, hi + 1e-9: true} {
		if got := misses(draws, 0, 1, m, 0.05); got != want || !(lo > 0 && hi < 1) {
			t.Errorf("[%v, %v] misses %v: %v", lo, hi, m, got)
		}
	}
	var xs []float64
	width := inf
	for range 4 {
		for range 300 {
			xs = append(xs, rng.NormFloat64())
		}
		lo, hi, ok := Anytime(xs, -inf, inf, 0.05)
		if !ok || hi-lo >= width {
			t.Errorf("n %d: [%v, %v], want narrower than %v", len(xs), lo, hi, width)
		}
		width = hi - lo
	}
	if s := Summarize(xs, Quantity{}); width/2 < CriticalT(0.025, s.N-1)*s.SD/math.Sqrt(float64(s.N)) || width/2 > 0.15 {
		t.Errorf("n %d: half width %v", len(xs), width/2)
	}
}
