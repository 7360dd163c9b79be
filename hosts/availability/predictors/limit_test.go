package predictors

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/hosts/availability"
)

// TestLimit checks on 1,000 random histories, under any options, that jobs that a limit
// excludes are refused while the limit is valid.
func TestLimit(t *testing.T) {
	t.Parallel()
	asked, refused, excluded := 0, 0, 0
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 9))
		h := history(t, drawDays(rng, 1+rng.Float64()*9))
		o := rapid.Custom(drawOptions).Example(int(seed))
		if seed%3 == 0 { // limits matter for these options, which the paper uses
			o = DefaultTDE()
		}
		p, err := NewTDE(o)
		if err != nil {
			t.Fatal(err)
		}
		past := &Past{History: h}
		for range 20 {
			now := float64(rng.IntN(11 * int(availability.Day)))
			least := []float64{0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 1}[rng.IntN(7)] - 1e-9
			l := p.Limit(past, now, least)
			if !(l.Until > now) {
				t.Fatalf("seed %d, %+v, now %v: the limit holds until %v", seed, o, now, l.Until)
			}
			for range 20 {
				if l.Until < now+7200 && rng.IntN(2) == 0 {
					now = l.Until - 1 // the last whole second
				} else {
					now = min(now+float64(rng.IntN(60)), math.Ceil(l.Until)-1)
				}
				// Try lengths that are only just excluded, and other lengths.
				length := float64(1 + rng.IntN(1+rng.IntN(30_000)))
				if rng.IntN(4) == 0 { // windows of days
					length *= 8
				}
				if edge := math.Floor((l.end-now)/o.Plen) + 1; edge >= 1 && edge < 30_000 && rng.IntN(2) == 0 {
					length = edge
				}
				ok := p.AtLeast(past, now, length, least)
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

// plainLimit computes the bound literally: the end of its validity, and the first exit at which
// the mean over the days is below least, or +Inf if there is none.
func plainLimit(o TDEOptions, h *availability.History, now, least float64) (until, end float64) {
	q := o.Plen
	if o.Unit == "plen" {
		q = 1
	}
	start, _ := h.Span()
	until = math.Inf(1)
	var candidates []float64
	for d := 1; d <= o.Days; d++ {
		shift := float64(d) * availability.Day
		if now-shift < start {
			until = min(until, start+shift)
			continue
		}
		for _, v := range h.Intervals() {
			if v.End > now-shift {
				until = min(until, v.End+shift)
				candidates = append(candidates, v.End+shift)
			}
		}
	}
	slices.Sort(candidates)
	worth := func(d int, end float64) float64 {
		shift := float64(d) * availability.Day
		if now-shift < start {
			return 1
		}
		u, x := 0.0, 0.0
		for _, v := range h.Intervals() {
			unknown := v.Exit == availability.Unknown
			if unknown && v.End > now-shift && v.End <= until-shift+availability.Day {
				u++
			}
			if !unknown && v.End > now-shift && v.End+shift <= end {
				x++
			}
		}
		if o.Count == "ceil" {
			return (q + u + x) / (q + u + 2*x)
		}
		return q / (q + x)
	}
	for _, end := range candidates {
		sum := 0.0
		for d := 1; d <= o.Days; d++ {
			sum += worth(d, end)
		}
		if sum < least*float64(o.Days)-1e-9 {
			return until, end
		}
	}
	return until, math.Inf(1)
}

// TestLimitIsItsDefinition compares the limit with a literal implementation of the bound on
// random histories: both are valid until the same time and exclude the same jobs.
func TestLimitIsItsDefinition(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 11))
		span := 1 + rng.Float64()*9
		o := rapid.Custom(drawOptions).Example(int(seed))
		o.Weight = "day"
		if seed%20 == 0 { // the maximum number of days
			o.Days, o.Plen, span = 32, 12, 36
		}
		h := history(t, drawDays(rng, span))
		p, err := NewTDE(o)
		if err != nil {
			t.Fatal(err)
		}
		start, _ := h.Span()
		past := &Past{History: h}
		for range 10 {
			now := float64(rng.IntN(int((span + 2) * availability.Day)))
			if rng.IntN(4) == 0 {
				now = start + float64(1+rng.IntN(int(span)))*availability.Day
			}
			least := []float64{0.2, 0.5, 0.6, 0.8, 1}[rng.IntN(5)]
			l := p.Limit(past, now, least)
			until, end := plainLimit(o, h, now, least)
			if l.Until != until && (o.Count != "ceil" || least > 0.5) {
				t.Fatalf("seed %d, %+v, now %v, least %v: holds until %v, want %v", seed, o, now, least, l.Until, until)
			}
			longest := math.Floor(availability.Day / o.Plen)
			length := min(math.Floor((end-now)/o.Plen), longest)
			if l.Excludes(now, length) || length < longest && !l.Excludes(now, length+1) {
				t.Fatalf("seed %d, %+v, now %v, least %v: excluded %v, %v, want the latter alone, as the window ends after %v", seed, o, now, least, length, length+1, end)
			}
		}
	}
}

// TestLimitNone checks that options that the bound does not cover never exclude any job,
// whatever the history.
func TestLimitNone(t *testing.T) {
	t.Parallel()
	h := history(t, drawDays(rand.New(rand.NewPCG(1, 12)), 40))
	for _, change := range []func(*TDEOptions){
		func(o *TDEOptions) { o.Weight = "pooled" },
		func(o *TDEOptions) { o.Plen = 2.5 },
		func(o *TDEOptions) { o.Days = 33 },
	} {
		o := DefaultTDE()
		change(&o)
		p, err := NewTDE(o)
		if err != nil {
			t.Fatal(err)
		}
		l := p.Limit(&Past{History: h}, 38*availability.Day, 1)
		if !math.IsInf(l.Until, 1) || l.Excludes(38*availability.Day, 20_000) {
			t.Errorf("%+v: limit %+v", o, l)
		}
	}
}

// TestLimitWhole checks that lengths with fractions of seconds are left to the forecast, and
// that a widened limit excludes only jobs that both limits exclude.
func TestLimitWhole(t *testing.T) {
	t.Parallel()
	narrow, wide := Limit{Until: 100, end: 50, plen: 3}, Limit{Until: 100, end: 80, plen: 3}
	for _, c := range []struct {
		now, length    float64
		narrow, widest bool
	}{
		{20, 10, false, false}, {20, 11, true, false}, {20, 20, true, false}, {20, 21, true, true}, {20, 28_800, true, true}, {20, 28_801, false, false}, {20.5, 21, false, false}, {20, 21.5, false, false},
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
