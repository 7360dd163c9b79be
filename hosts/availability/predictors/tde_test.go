package predictors

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"bourse/hosts/availability"
	"bourse/workloadgen/config"
)

// drawOptions draws any options of TDE.
func drawOptions(t *rapid.T) TDEOptions {
	return TDEOptions{
		Days:      rapid.IntRange(1, 8).Draw(t, "days"),
		Plen:      float64(rapid.IntRange(1, 4).Draw(t, "plen")),
		Count:     rapid.SampledFrom([]string{"ceil", "floor", "frac"}).Draw(t, "count"),
		Unit:      rapid.SampledFrom([]string{"exec", "plen"}).Draw(t, "unit"),
		Weight:    rapid.SampledFrom([]string{"day", "pooled"}).Draw(t, "weight"),
		Empty:     rapid.SampledFrom([]string{"zero", "skip", "one"}).Draw(t, "empty"),
		Missing:   rapid.SampledFrom([]string{"skip", "zero", "one"}).Draw(t, "missing"),
		NoHistory: rapid.SampledFrom([]float64{0, 0.25, 1}).Draw(t, "no history"),
	}
}

// TestTDEIsItsDefinition compares the predictor with a literal implementation of the definition
// on 1,000 random histories, under any options. Fractions are equal, floats agree to 1e-12, and
// all sums are 1.
func TestTDEIsItsDefinition(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		records := drawDays(rng, 1+rng.Float64()*9)
		h := history(t, records)
		o := rapid.Custom(drawOptions).Example(int(seed))
		p, err := NewTDE(o)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			now := float64(rng.IntN(11 * int(availability.Day)))
			length := float64(1 + rng.IntN(1+rng.IntN(30_000)))
			if len(records) > 0 && rng.IntN(3) == 0 { // a window that starts or ends at an edge
				edges := []float64{records[rng.IntN(len(records))].End, records[0].Start, records[len(records)-1].End}
				now = edges[rng.IntN(3)] + availability.Day
				if rng.IntN(2) == 0 {
					now -= o.Plen * length
				}
			}
			want := plainTDE(o, records, now, length)
			exact := p.Exact(h, now, length)
			f := p.Predict(h, now, length)
			one := new(big.Rat)
			for i, s := range []string{"A", "P", "C", "U"} {
				if exact[i].Cmp(want[s]) != 0 {
					t.Fatalf("seed %d, %+v, now %v, length %v: %s = %v, want %v", seed, o, now, length, s, exact[i], want[s])
				}
				one.Add(one, exact[i])
				float := []float64{f.Completes, f.UserPresent, f.Busy, f.Unavailable}[i]
				if w, _ := want[s].Float64(); !(math.Abs(float-w) <= 1e-12) {
					t.Fatalf("seed %d, %+v, now %v, length %v: %s = %v, want %v", seed, o, now, length, s, float, w)
				}
			}
			if one.Cmp(big.NewRat(1, 1)) != 0 || !(math.Abs(f.sum()-1) <= 1e-12) {
				t.Fatalf("seed %d: sum is %v, in floats %v", seed, one, f.sum())
			}
		}
	}
}

// TestAtLeast checks on 1,000 random histories, under any options, that a threshold is met
// exactly if the forecast meets it, including thresholds just below and just above the
// forecast.
func TestAtLeast(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 10))
		h := history(t, drawDays(rng, 1+rng.Float64()*9))
		o := rapid.Custom(drawOptions).Example(int(seed))
		p, err := NewTDE(o)
		if err != nil {
			t.Fatal(err)
		}
		past, now := &Past{History: h}, 0.0
		for i := range 40 {
			if now += float64(rng.IntN(7200)); i%10 == 0 {
				now = float64(rng.IntN(11 * int(availability.Day))) // earlier or much later
			}
			length := float64(1 + rng.IntN(1+rng.IntN(30_000)))
			f := p.Predict(h, now, length).Completes
			for _, least := range []float64{f - 1e-9, f + 1e-9, rng.Float64()} {
				if got, want := p.AtLeast(past, now, length, least), f >= least; got != want {
					t.Fatalf("seed %d, %+v, now %v, length %v: at least %v is %v, forecast %v", seed, o, now, length, least, got, f)
				}
			}
		}
	}
}

// TestAtLeastItself checks that a forecast equal to the threshold meets it, on all patterns of
// up to four days, each available throughout or not at all.
func TestAtLeastItself(t *testing.T) {
	t.Parallel()
	for days := 1; days <= 4; days++ {
		for pattern := range 1 << days {
			var records []availability.Record
			good := 0
			for d := range days {
				r := availability.Record{Start: float64(d) * availability.Day, End: float64(d+1) * availability.Day, State: availability.Busy}
				if pattern>>d&1 == 1 {
					r.State = availability.Available
					good++
				}
				records = append(records, r)
			}
			h := history(t, records)
			for k := 0; k <= days; k++ {
				for i, weight := range []string{"day", "pooled", "day"} {
					o := DefaultTDE()
					o.Days, o.Weight = days, weight
					if i == 2 {
						o.Days = 6 // days before the first are omitted
					}
					p, err := NewTDE(o)
					if err != nil {
						t.Fatal(err)
					}
					have := float64(good) / float64(days)
					if weight == "pooled" && good > 0 {
						have = 1 // There are only completions.
					}
					least := float64(k) / float64(days)
					if got, want := p.AtLeast(&Past{History: h}, float64(days)*availability.Day, 60, least), have >= least; got != want {
						t.Errorf("%d days, %b available, by %s: at least %v is %v, want %v", days, pattern, weight, least, got, want)
					}
				}
			}
		}
	}
	o := DefaultTDE()
	o.NoHistory = 0.5
	p, err := NewTDE(o)
	if err != nil {
		t.Fatal(err)
	}
	for least, want := range map[float64]bool{0.25: true, 0.5: true, 0.75: false} {
		if got := p.AtLeast(&Past{History: history(t, nil)}, 0, 60, least); got != want {
			t.Errorf("without history, of which 0.5 is thought: at least %v is %v, want %v", least, got, want)
		}
	}
}

// TestTDEBound checks that rounding up leaves no reliability below 1/2, unless
// a day without availability counts as one.
func TestTDEBound(t *testing.T) {
	t.Parallel()
	below := 0
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 8))
		h := history(t, drawDays(rng, 8))
		o := DefaultTDE()
		o.Empty, o.NoHistory = "skip", 1
		o.Weight = []string{"day", "pooled"}[seed%2]
		p, _ := NewTDE(o)
		o.Count = "floor"
		floor, _ := NewTDE(o)
		for range 20 {
			now, length := float64(rng.IntN(9*int(availability.Day))), float64(1+rng.IntN(20_000))
			if f := p.Predict(h, now, length); f.Completes < 0.5 {
				t.Fatalf("seed %d, now %v, length %v: %v, want at least 1/2", seed, now, length, f.Completes)
			}
			if floor.Predict(h, now, length).Completes < 0.5 {
				below++
			}
		}
	}
	if below < 1000 {
		t.Errorf("rounding down went below 1/2 only %d times: the bound was not tried", below)
	}
}

// TestCausality checks that a forecast does not depend on later records, except in a gap that
// is still open.
func TestCausality(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 9))
		records := drawDays(rng, 6)
		h := history(t, records)
		v := h.Intervals()[len(h.Intervals())*2/3]
		now := v.Start + math.Floor((v.End-v.Start)*rng.Float64())
		var past []availability.Record
		for _, r := range records {
			if r.Start < now {
				r.End = min(r.End, now+1) // it continues for an unknown time
				past = append(past, r)
			}
		}
		cut := history(t, past)
		if _, ok := cut.At(now); !ok {
			continue // in a gap that later proves short
		}
		for _, name := range Table().Names() {
			p, err := Table().New(name, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := p.Predict(cut, now, 3000), p.Predict(h, now, 3000); got != want {
				t.Fatalf("seed %d: %s knowing the past %v, the future too %v", seed, name, got, want)
			}
		}
	}
}

// TestTDERefuses checks that a wrong option is named.
func TestTDERefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"days: 0", "plen: 0", "plen: .inf", "count: round", "unit: x", "weight: x", "empty: x", "missing: x", "no_history: 2", "no_history: .nan", "nonsense: 1"} {
		_, err := Table().New("tde", func(o any) error { return config.Read("", []byte(text), o) })
		if err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}
