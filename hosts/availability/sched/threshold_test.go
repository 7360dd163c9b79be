package sched

import (
	"math"
	"math/rand/v2"
	"testing"

	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/hosts/availability/predictors"
)

// TestThreshold checks that the first reliable host in the requested order is chosen, within
// the float tolerance, and none if none is reliable.
func TestThreshold(t *testing.T) {
	t.Parallel()
	known := oracle{"0": 0.4, "1": 0.7 - 1e-12, "2": 0.9, "3": 0.7}
	for _, c := range []struct {
		order     string
		threshold float64
		want      []hosts.ID // the hosts are chosen in this order, and each stays busy
	}{
		{"fifo", 0, []hosts.ID{1, 0, 2, 3, None}},
		{"fifo", 0.7, []hosts.ID{1, 2, 3, None}},
		{"index", 0, []hosts.ID{0, 1, 2, 3, None}},
		{"index", 0.8, []hosts.ID{2, None}},
		{"fifo", 1, []hosts.ID{None}},
	} {
		p := fleet(t, false, 0, 0, 0, 0)
		p.Begin(0)
		p.End(1, 0)
		p.Begin(2)
		p.End(1, 2)
		p.Begin(3)
		p.End(2, 3)
		m, err := NewThreshold(c.threshold, c.order, known)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.want {
			got := m.Match(3, 100, p)
			if got != want {
				t.Errorf("%s at %v: host %d taken is %d, want %d", c.order, c.threshold, i, got, want)
			}
			if got == None {
				break
			}
			p.Begin(got)
		}
	}
}

// TestThresholdRotates checks that rotation continues after the last host chosen.
func TestThresholdRotates(t *testing.T) {
	t.Parallel()
	m, err := NewThreshold(0.5, "rotate", oracle{"0": 1, "1": 0.2, "2": 1})
	if err != nil {
		t.Fatal(err)
	}
	p := fleet(t, false, 0, 0, 0)
	for i, want := range []hosts.ID{0, 2, 0, 2} {
		if got := m.Match(0, 1, p); got != want {
			t.Errorf("match %d: %d, want %d", i, got, want)
		}
	}
}

// TestJudged checks that the threshold makes the same choices whether tde computes its forecast
// or only decides whether it meets the threshold.
func TestJudged(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var records []availability.Record
		for at := 0.0; at < 8*availability.Day; {
			length := 1 + float64(rng.IntN(15_000))
			records = append(records, availability.Record{Start: at, End: at + length, State: availability.State(1 + rng.IntN(2))})
			at += length
		}
		h, err := availability.NewHistory("h", 1, records, availability.Gap)
		if err != nil {
			t.Fatal(err)
		}
		o := predictors.DefaultTDE()
		o.Days = 1 + rng.IntN(8)
		o.Count = []string{"ceil", "floor", "frac"}[rng.IntN(3)]
		o.Weight = []string{"day", "pooled"}[rng.IntN(2)]
		o.Empty = []string{"zero", "skip", "one"}[rng.IntN(3)]
		o.Missing = []string{"zero", "skip", "one"}[rng.IntN(3)]
		tde, err := predictors.NewTDE(o)
		if err != nil {
			t.Fatal(err)
		}
		past := &predictors.Past{History: h}
		for range 50 {
			now, length := float64(rng.IntN(9*int(availability.Day))), float64(1+rng.IntN(10_000))
			f := tde.Predict(h, now, length)
			for _, least := range []float64{0.1, 1.0 / 3, 0.5, 0.7, 0.9, 1, f.Completes} {
				want := f.Completes >= least-slack
				if got := tde.AtLeast(past, now, length, least-slack); got != want {
					t.Fatalf("seed %d, %+v: at least %v is %v, forecast %v", seed, o, least, got, f.Completes)
				}
			}
		}
	}
}

// plain is a judge without limits.
type plain struct{ predictors.Judge }

// TestLimits checks that limits change no choice: over a day of ticks on random hosts that
// come, go and run jobs, the same hosts are chosen as without limits, in any order of idle
// hosts.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"fifo", "index", "rotate"} {
		for seed := range uint64(40) {
			rng := rand.New(rand.NewPCG(seed, 3))
			o := predictors.DefaultTDE()
			o.Days = 1 + rng.IntN(6)
			tde, err := predictors.NewTDE(o)
			if err != nil {
				t.Fatal(err)
			}
			least := []float64{0.4, 0.6, 0.7, 0.8, 0.9, 1}[rng.IntN(6)]
			with, err := NewThreshold(least, order, tde)
			if err != nil {
				t.Fatal(err)
			}
			without, err := NewThreshold(least, order, plain{tde})
			if err != nil {
				t.Fatal(err)
			}
			if with.limits == nil || without.limits != nil {
				t.Fatal("the one with limits has none, or the other some")
			}
			var histories []*availability.History
			for range 12 {
				var records []availability.Record
				for at := 0.0; at < 8*availability.Day; {
					up, down := 1+math.Floor(rng.ExpFloat64()*9000), 1+math.Floor(rng.ExpFloat64()*1500)
					records = append(records,
						availability.Record{Start: at, End: at + up, State: availability.Available},
						availability.Record{Start: at + up, End: at + up + down, State: availability.UserPresent})
					at += up + down
				}
				h, err := availability.NewHistory("h", 1, records, availability.Gap)
				if err != nil {
					t.Fatal(err)
				}
				histories = append(histories, h)
			}
			p := NewPool(histories, false)
			taken, none := 0, 0
			for now := 7 * availability.Day; now < 8*availability.Day; now += 120 {
				for h := range histories {
					id := hosts.ID(h)
					_, up := histories[h].At(now)
					if p.jobs(id) > 0 && (!up || rng.IntN(4) == 0) {
						p.End(now, id)
					}
					switch {
					case up && !p.IsAvailable(id):
						p.Rise(now, id)
					case !up && p.IsAvailable(id):
						p.Fall(id)
					}
				}
				for range 4 {
					if p.idle == 0 {
						break
					}
					length := 1 + math.Floor(rng.ExpFloat64()*2000)
					got, want := with.Match(now, length, p), without.Match(now, length, p)
					if got != want {
						t.Fatalf("%s, seed %d, threshold %v, now %v, length %v: took %v, want %v", order, seed, least, now, length, got, want)
					}
					if got == None {
						none++
						continue
					}
					taken++
					p.Begin(got)
				}
			}
			if taken == 0 || least > 0.5 && none == 0 {
				t.Errorf("%s, seed %d, threshold %v: %d jobs taken, %d refused", order, seed, least, taken, none)
			}
		}
	}
}

// TestLimitsEnd checks that a job that is too long at one time is tried again at the next, or
// if another host has become idle since. Yesterday, a job of 10 minutes that started a minute
// before its host left would not have ended. It would have ended two hours later, or on a host
// that stayed.
func TestLimitsEnd(t *testing.T) {
	t.Parallel()
	const noon, end = availability.Day / 2, 2 * availability.Day
	history := func(records ...availability.Record) *availability.History {
		h, err := availability.NewHistory("h", 1, records, availability.Gap)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	left := history(availability.Record{Start: 0, End: noon, State: availability.Available},
		availability.Record{Start: noon, End: noon + 3600, State: availability.UserPresent},
		availability.Record{Start: noon + 3600, End: end, State: availability.Available})
	stayed := history(availability.Record{Start: 0, End: end, State: availability.Available})
	o := predictors.DefaultTDE()
	o.Days = 1
	tde, err := predictors.NewTDE(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		later float64 // seconds until the next job
		rises bool    // whether the other host rises before that job
		want  hosts.ID
	}{{0, false, None}, {7200, false, 0}, {0, true, 1}} {
		m, err := NewThreshold(1, "fifo", tde)
		if err != nil {
			t.Fatal(err)
		}
		p := NewPool([]*availability.History{left, stayed}, false)
		p.Rise(availability.Day, 0)
		now := availability.Day + noon - 60.0
		if got := m.Match(now, 600, p); got != None {
			t.Errorf("%+v: first host %v, want none", c, got)
		}
		if now += c.later; c.rises {
			p.Rise(now, 1)
		}
		if got := m.Match(now, 600, p); got != c.want {
			t.Errorf("%+v: host %v", c, got)
		}
	}
}
