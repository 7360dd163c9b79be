package market

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// adversary returns prices of random kinds: noise, random walks, constant prices, jumps, and a
// price that is set just above the forecast whenever this adds to the error.
func adversary(t *rapid.T) func(k int, told float64) Rate {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	p := Rate(rng.IntN(1e9))
	switch rapid.SampledFrom([]string{"noise", "walk", "still", "jumps", "spite"}).Draw(t, "kind") {
	case "noise":
		return func(int, float64) Rate { return Rate(rng.ExpFloat64() * 1e9) }
	case "walk":
		return func(int, float64) Rate {
			p = max(0, p+Rate(rng.NormFloat64()*1e7))
			return p
		}
	case "jumps":
		return func(k int, _ float64) Rate {
			if rng.IntN(50) == 0 {
				p = Rate(math.Exp(20 * rng.Float64()))
			}
			return p
		}
	case "spite":
		return func(k int, told float64) Rate {
			if told < 1e6 && rng.IntN(3) > 0 {
				return max(0, Rate(told*nano)+1)
			}
			return Rate(rng.IntN(1e9))
		}
	}
	return func(int, float64) Rate { return p }
}

// TestConformal checks Proposition 4.1 of Gibbs and Candès: whatever the prices do, the
// fraction of time in which they exceed the forecast is, over n forecasts, within (1 +
// γ(s+1))/(γn) of 1-g.
func TestConformal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := ConformalOptions{
			Gamma: rapid.SampledFrom([]float64{0.005, 0.02, 0.2}).Draw(t, "gamma"),
			Steps: rapid.IntRange(1, 12).Draw(t, "steps"), Scores: rapid.IntRange(1, 100).Draw(t, "scores"),
		}
		g := rapid.SampledFrom([]float64{0.05, 0.5, 0.6, 0.95}).Draw(t, "g")
		next := adversary(t)
		h, _ := NewHistory(float64(o.Steps)) // one forecast per second
		h.Observe(0, 1e9)
		f := conformal{o}
		const n = 3000
		var told []float64
		var prices []float64
		for k := range n + o.Steps {
			told = append(told, f.Percentile(&h, float64(k), g))
			p := next(k, told[k])
			h.Observe(float64(k), p)
			prices = append(prices, p.Float64())
		}
		over := 0.0
		for k := range n {
			for j := range o.Steps {
				if prices[k+j] > told[k] {
					over += 1 / float64(o.Steps)
				}
			}
		}
		bound := (1 + o.Gamma*float64(o.Steps+1)) / (o.Gamma * n)
		if miss := over/n - (1 - g); math.Abs(miss) > bound+1e-9 {
			t.Fatalf("prices were above for %v of the time, want %v within %v", over/n, 1-g, bound)
		}
	})
}

// TestQuantile checks the percentile at α of a price of 100 with four scores: the ⌈(1-α)n⌉-th
// smallest is added. If α is 0 or less, no price is above it; if α is 1 or more, every price
// is. Without scores it is the price.
func TestQuantile(t *testing.T) {
	t.Parallel()
	some := []Rate{-30, 0, 20, 50}
	for _, c := range []struct {
		alpha  float64
		scores []Rate
		want   Rate
	}{
		{-0.1, some, above}, {0, some, above}, {1, some, below}, {1.1, some, below}, {0.5, nil, 100},
		{0.01, some, 150}, {0.25, some, 120}, {0.26, some, 120}, {0.5, some, 100}, {0.51, some, 100},
		{0.7, some, 100}, {0.75, some, 70}, {0.9, some, 70}, {0.999, some, 70},
		{0.5, []Rate{above - 100}, above}, {0.5, []Rate{above - 99}, above}, {0.5, []Rate{above - 101}, above - 1},
	} {
		if got := (&tracker{sorted: c.scores}).quantile(c.alpha, 100); got != c.want {
			t.Errorf("at %v of %v: %d, want %d", c.alpha, c.scores, got, c.want)
		}
	}
}

// TestConformalAsked checks that the forecasts of conformal after the first request do not
// depend on when and how often other callers request forecasts.
func TestConformalAsked(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f, _ := NewConformal(func(any) error { return nil })
		var seldom, often History
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for _, h := range []*History{&seldom, &often} {
			f.Percentile(h, 0, 0.6)
		}
		now := 0.0
		for range rapid.IntRange(1, 60).Draw(t, "changes") {
			now += rng.ExpFloat64() * 40
			p := Rate(rng.IntN(1e9))
			seldom.Observe(now, p)
			often.Observe(now, p)
			for range rng.IntN(3) {
				now += rng.ExpFloat64() * 40
				f.Percentile(&often, now, 0.6)
			}
		}
		if a, b := f.Percentile(&seldom, now, 0.6), f.Percentile(&often, now, 0.6); a != b {
			t.Fatalf("foretold %v where nobody asked, %v where many did", a, b)
		}
	})
}

// TestConformalStill checks that a tracker does no more work after its price has been constant
// for very long, and makes forecasts again after the price changes.
func TestConformalStill(t *testing.T) {
	t.Parallel()
	f, _ := NewConformal(func(any) error { return nil })
	h, _ := NewHistory(1e-3)
	h.Observe(0, 5e9)
	f.Percentile(&h, 0, 0.6)
	h.Observe(1e9, 6e9)
	if n := h.tracked.n; h.tracked.still != 0 || float64(n) < 1e13*(1-1e-9) || len(h.tracked.past) > 0 {
		t.Errorf("after rest %+v, want a place near 1e13", h.tracked)
	}
	f.Percentile(&h, 1e9+1, 0.6)
	if s := h.tracked.still; s != stillEnough {
		t.Errorf("%d forecasts of a price that stands still, want %d", s, stillEnough)
	}
	if l := h.tracked.levels[0]; l.alpha < 0 || l.alpha > 1.2 {
		t.Errorf("α = %v", l.alpha)
	}
}

// TestConformalReset checks that a history after Reset behaves like a new one.
func TestConformalReset(t *testing.T) {
	t.Parallel()
	f, _ := NewConformal(func(any) error { return nil })
	var used History
	play := func(h *History) (all []float64) {
		for k := range 400 {
			h.Observe(float64(k)*7, Rate(k*k%11)*1e8)
			all = append(all, f.Percentile(h, float64(k)*7, 0.8))
		}
		return all
	}
	first := play(&used)
	used.Reset()
	if again := play(&used); !reflect.DeepEqual(first, again) {
		t.Error("what is foretold after Reset differs")
	}
}

// TestConformalRange checks that prices near the highest and lowest rate cause no overflow.
func TestConformalRange(t *testing.T) {
	t.Parallel()
	f, _ := NewConformal(func(any) error { return nil })
	var h History
	for k := range 400 {
		p := Rate(0)
		if k%2 == 0 {
			p = math.MaxInt64
		}
		h.Observe(float64(k)*30, p)
		if got := f.Percentile(&h, float64(k)*30, 0.95); got < -1e10 || got > 1e10 {
			t.Fatalf("foretold %v", got)
		}
	}
}
