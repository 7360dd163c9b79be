package predictors

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"bourse/hosts/availability"
)

// TestLimit checks that what a limit excludes, for as long as it holds, is
// refused: on 1,000 random histories, under any options.
func TestLimit(t *testing.T) {
	t.Parallel()
	asked, refused, excluded := 0, 0, 0
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 9))
		h := history(t, drawDays(rng, 1+rng.Float64()*9))
		o := rapid.Custom(drawOptions).Example(int(seed))
		if seed%3 == 0 { // those of the paper, where limits count
			o = DefaultTDE()
		}
		p, err := NewTDE(o)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			now := float64(rng.IntN(11 * int(availability.Day)))
			least := []float64{0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 1}[rng.IntN(7)] - 1e-9
			l := p.Limit(h, now, least)
			if !(l.Until > now) {
				t.Fatalf("seed %d, %+v, now %v: the limit holds until %v", seed, o, now, l.Until)
			}
			for range 20 {
				if l.Until < now+7200 && rng.IntN(2) == 0 {
					now = l.Until - 1 // the last whole second
				} else {
					now = min(now+float64(rng.IntN(60)), math.Ceil(l.Until)-1)
				}
				// Lengths from those that are just excluded.
				length := float64(1 + rng.IntN(1+rng.IntN(30_000)))
				if rng.IntN(4) == 0 { // windows of days
					length *= 8
				}
				if edge := math.Floor((l.end-now)/o.Plen) + 1; edge >= 1 && edge < 30_000 && rng.IntN(2) == 0 {
					length = edge
				}
				ok := p.AtLeast(h, now, length, least)
				asked++
				if !ok {
					refused++
				}
				if l.Excludes(now, length) {
					excluded++
					if ok {
						t.Fatalf("seed %d, %+v, now %v, length %v: excluded, but promised %v, at least %v", seed, o, now, length, p.Predict(h, now, length).Completes, least)
					}
				}
			}
		}
	}
	if excluded < refused/20 {
		t.Errorf("%d asked, %d refused, %d of them excluded: limits say nothing", asked, refused, excluded)
	}
	t.Logf("%d asked, %d refused, %d excluded", asked, refused, excluded)
}

// TestLimitWhole checks that fractions of seconds are left to the forecast, and
// that the widest of two limits excludes no more than either.
func TestLimitWhole(t *testing.T) {
	t.Parallel()
	narrow, wide := Limit{Until: 100, end: 50, plen: 3}, Limit{Until: 100, end: 80, plen: 3}
	for _, c := range []struct {
		now, length    float64
		narrow, widest bool
	}{
		{20, 10, false, false}, {20, 11, true, false}, {20, 20, true, false}, {20, 21, true, true}, {20.5, 21, false, false}, {20, 21.5, false, false},
	} {
		var widest Limit
		widest.Widen(&narrow)
		widest.Widen(&wide)
		widest.Widen(&narrow)
		if got := narrow.Excludes(c.now, c.length); got != c.narrow {
			t.Errorf("length %v at %v: excluded %v, want %v", c.length, c.now, got, c.narrow)
		}
		if got := widest.Excludes(c.now, c.length); got != c.widest {
			t.Errorf("length %v at %v: excluded by the widest %v, want %v", c.length, c.now, got, c.widest)
		}
	}
	if new(Limit).Excludes(1, 1) != true {
		t.Error("the zero limit leaves a job to hosts that there are none of")
	}
}
