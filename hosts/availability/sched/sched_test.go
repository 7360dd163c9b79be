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

// fleet returns a pool of n hosts with the given loads that are always available and idle since
// 0. If fast is set, host i has MIPS i+1.
func fleet(t *testing.T, fast bool, loads ...float64) *Pool {
	t.Helper()
	var all []*availability.History
	for i, load := range loads {
		mips := 1.0
		if fast {
			mips += float64(i)
		}
		h, err := availability.NewHistory(fmt.Sprint(i), mips, []availability.Record{{Start: 0, End: 1e6, State: availability.Available, Load: load}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, h)
	}
	p := NewPool(all, false)
	for i := range loads {
		p.Rise(0, hosts.ID(i))
	}
	return p
}

// oracle returns preset predictions, by host name.
type oracle map[string]float64

func (o oracle) Predict(h *availability.History, _, _ float64) predictors.Forecast {
	return predictors.Forecast{Completes: o[h.Name], Unavailable: 1 - o[h.Name]}
}

// TestByLot checks that random and pps with random ties choose every host at some time, and
// that random chooses only idle ones.
func TestByLot(t *testing.T) {
	t.Parallel()
	p := fleet(t, false, 0, 0, 0, 0)
	p.Begin(2)
	random, err := Table(rand.New(rand.NewPCG(1, 1))).New("random", nil)
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultPPS()
	o.Tie = "random"
	pps, err := NewPPS(o, oracle{"0": 1, "1": 1, "2": 1, "3": 0.5}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		m    Matchmaker
		want [4]bool
	}{"random": {random, [4]bool{true, true, false, true}}, "pps": {pps, [4]bool{true, true, true, false}}} {
		var got [4]int
		for range 3000 {
			got[c.m.Match(1, 1, p)]++
		}
		for h, n := range got {
			if c.want[h] != (n > 0) || n > 0 && (n < 900 || n > 1100) {
				t.Errorf("%s: host %d taken %d times of 3000", name, h, n)
			}
		}
	}
}

// TestNew checks that every matchmaker of the table can be created with its defaults and serves
// a queue, and that wrong options and names are errors.
func TestNew(t *testing.T) {
	t.Parallel()
	for _, name := range Table(nil).Names() {
		m, err := Table(rand.New(rand.NewPCG(1, 1))).New(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		q, err := NewQueue(DefaultQueue())
		if err != nil {
			t.Fatal(err)
		}
		q.Submit(0, 100)
		if got := q.Tick(5e5, fleet(t, false, 0, 0), m, nil); len(got) != 1 || q.Len() != 0 {
			t.Errorf("%s: placed %v", name, got)
		}
		if Table(nil).Doc(name) == "" {
			t.Errorf("%s has no doc", name)
		}
	}
	for _, c := range [][2]string{
		{"threshold", "threshold: 2"}, {"threshold", "idle_order: lifo"}, {"threshold", "predictor: oracle"}, {"threshold", "predictor: {name: tde, options: {dais: 1}}"},
		{"pps", "pps_load: x"}, {"pps", "pps_tie: x"}, {"pps", "pps_tie: random"}, {"random", ""}, {"fcfs", ""},
	} {
		decode := func(o any) error { return config.Read("", []byte(c[1]), o) }
		if c[1] == "" {
			decode = nil
		}
		if _, err := Table(nil).New(c[0], decode); err == nil {
			t.Errorf("%s, %s: no error", c[0], c[1])
		}
	}
	for _, o := range []QueueOptions{{-1, "skip", "tail"}, {0, "x", "tail"}, {0, "skip", "x"}} {
		if _, err := NewQueue(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}
