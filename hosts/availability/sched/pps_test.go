package sched

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/hosts/availability/predictors"
	"bourse/workloadgen/config"
)

// TestPPS checks eq. 1 with each definition of load and each tie-break.
func TestPPS(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		options  string
		fast     bool
		loads    []float64
		forecast []float64
		busy     map[hosts.ID]int
		want     []hosts.ID // the chosen hosts in order; each stays busy
	}{
		{name: "best product", loads: []float64{0.1, 0.5, 0}, forecast: []float64{0.5, 1, 0.4}, want: []hosts.ID{1, 1}},
		{name: "mips", fast: true, loads: []float64{0, 0, 0.5}, forecast: []float64{1, 0.6, 0.7}, want: []hosts.ID{1}},
		{name: "even if 0", loads: []float64{1, 1}, forecast: []float64{1, 1}, want: []hosts.ID{0, 0}},
		{name: "ties by index", loads: []float64{0, 0, 0}, forecast: []float64{0.5, 1, 1}, want: []hosts.ID{1, 1, 1}},
		{name: "ties in floats", loads: []float64{0, 0}, forecast: []float64{0.7, 0.7 + 1e-16}, want: []hosts.ID{0}},
		{name: "fewest", options: "pps_tie: fewest", loads: []float64{0, 0, 0}, forecast: []float64{1, 1, 1}, busy: map[hosts.ID]int{0: 2, 1: 1}, want: []hosts.ID{2, 1, 2, 0}},
		{name: "rotate", options: "pps_tie: rotate", loads: []float64{0, 0, 0}, forecast: []float64{1, 0, 1}, want: []hosts.ID{0, 2, 0}},
		{name: "shared load", options: "pps_load: local+grid", loads: []float64{0, 0.4}, forecast: []float64{1, 1}, want: []hosts.ID{0, 1, 0, 0}},
		{name: "binary", options: "pps_load: binary", loads: []float64{0, 0.9}, forecast: []float64{1, 1}, want: []hosts.ID{0, 1, 0}},
		{name: "idle only", options: "busy: false", loads: []float64{0.5, 0.9}, forecast: []float64{1, 1}, want: []hosts.ID{0, 1, None}},
	} {
		o := DefaultPPS()
		if c.options != "" {
			if err := config.Read("", []byte(c.options), &o); err != nil {
				t.Fatal(err)
			}
		}
		known := oracle{}
		for i, x := range c.forecast {
			known[fmt.Sprint(i)] = x
		}
		m, err := NewPPS(o, known, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := fleet(t, c.fast, c.loads...)
		for h, k := range c.busy {
			for range k {
				p.Begin(h)
			}
		}
		for i, want := range c.want {
			got := m.Match(1, 100, p)
			if got != want {
				t.Errorf("%s: choice %d is %d, want %d", c.name, i, got, want)
			}
			if got != None {
				p.Begin(got)
			}
		}
	}
}

// brief predicts that a job completes if it takes less than 60 s.
type brief struct{}

func (brief) Predict(_ *availability.History, _, length float64) predictors.Forecast {
	if length < 60 {
		return predictors.Forecast{Completes: 1}
	}
	return predictors.Forecast{Unavailable: 1}
}

// TestPPSSpeeds checks that the prediction covers the time that a job takes on a host: a job of
// 100 s takes 100 s on the first host, 50 s on the second, and 400 s on the second after
// SetSpeeds.
func TestPPSSpeeds(t *testing.T) {
	t.Parallel()
	m, err := NewPPS(DefaultPPS(), brief{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := fleet(t, true, 0, 0.9)
	p.speeds = true
	if got := m.Match(1, 100, p); got != 1 {
		t.Errorf("by MIPS: %d, want 1", got)
	}
	p.SetSpeeds([]float64{2, 0.25})
	if got := m.Match(1, 100, p); got != 0 {
		t.Errorf("by speeds: %d, want 0", got)
	}
}

// asked is a predictor that counts its forecasts.
type asked struct {
	oracle
	n int
}

func (a *asked) Predict(h *availability.History, now, length float64) predictors.Forecast {
	a.n++
	return a.oracle.Predict(h, now, length)
}

// judged is a predictor that can also decide whether a threshold is met.
type judged struct{ *asked }

func (j judged) AtLeast(p *predictors.Past, now, length, least float64) bool {
	return j.oracle.Predict(p.History, now, length).Completes >= least
}

// TestPPSAsksFew checks that skipping hosts whose score cannot be the highest, or is judged too
// low, changes no choice. Loads and forecasts are random multiples of a tenth, so that ties are
// common. The chosen host must be the first one with the highest score among all hosts.
func TestPPSAsksFew(t *testing.T) {
	t.Parallel()
	few := 0
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 5))
		n := 1 + rng.IntN(20)
		loads, known := make([]float64, n), oracle{}
		for i := range loads {
			loads[i] = float64(rng.IntN(11)) / 10
			known[fmt.Sprint(i)] = float64(rng.IntN(11)) / 10
		}
		p := fleet(t, rng.IntN(2) == 0, loads...)
		want, top := None, -1.0
		for i := range loads {
			h := hosts.ID(i)
			if score := known[fmt.Sprint(i)] * p.History(h).MIPS * (1 - loads[i]); score > top*(1+even) || want == None {
				want, top = h, score
			}
		}
		a := &asked{oracle: known}
		var predictor predictors.Predictor = a
		if seed%2 == 0 {
			predictor = judged{a}
		}
		m, err := NewPPS(DefaultPPS(), predictor, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Match(1, 100, p); got != want {
			t.Fatalf("seed %d: took %d, want %d of loads %v, forecasts %v", seed, got, want, loads, known)
		}
		if a.n < n {
			few++
		}
	}
	if few < 100 {
		t.Errorf("%d of 500 times a host was left out", few)
	}
}

// TestPPSGoesOn checks that a used matchmaker chooses like a new one: cached loads of owners
// and the host chosen last change no choice.
func TestPPSGoesOn(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 6))
		var all []*availability.History
		for i := range 1 + rng.IntN(8) {
			var records []availability.Record
			for at := 0.0; at < 1000; {
				r := availability.Record{Start: at, End: at + float64(1+rng.IntN(30)), State: availability.State(1 + rng.IntN(2)), Load: float64(rng.IntN(11)) / 10}
				if at = r.End; rng.IntN(5) > 0 { // otherwise unknown
					records = append(records, r)
				}
			}
			h, err := availability.NewHistory(fmt.Sprint(i), float64(1+rng.IntN(3)), records, 0)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, h)
		}
		p, known := NewPool(all, false), oracle{}
		for h := range all {
			p.Rise(0, hosts.ID(h))
		}
		o := DefaultPPS()
		o.Tie = []string{"index", "fewest"}[rng.IntN(2)]
		asked := must(NewPPS(o, judged{&asked{oracle: known}}, nil))
		for now := 0.0; now < 1050; now += float64(rng.IntN(20)) {
			for i := range all {
				known[fmt.Sprint(i)] = float64(rng.IntN(11)) / 10
			}
			got, want := asked.Match(now, 100, p), must(NewPPS(o, known, nil)).Match(now, 100, p)
			if got != want {
				t.Fatalf("seed %d at %v: took %d, want %d", seed, now, got, want)
			}
			p.Begin(got)
		}
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
