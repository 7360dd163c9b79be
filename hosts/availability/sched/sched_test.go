package sched

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/goccy/go-yaml"
	"pgregory.net/rapid"

	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/hosts/availability/predictors"
)

// fleet makes a pool of n hosts that are always available, idle since 0, of
// these loads; host i has MIPS i+1 if fast.
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
	p := NewPool(all)
	for i := range loads {
		p.Rise(0, hosts.ID(i))
	}
	return p
}

// oracle foretells what it is told, by host name.
type oracle map[string]float64

func (o oracle) Predict(h *availability.History, _, _ float64) predictors.Forecast {
	return predictors.Forecast{Completes: o[h.Name], Unavailable: 1 - o[h.Name]}
}

// TestPool checks the order of idle hosts against a plain list: by the instant
// at which they became idle, ties by index, whatever happened in between.
func TestPool(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const n = 8
		p := NewPool(make([]*availability.History, n))
		type state struct {
			up    bool
			jobs  int
			since float64
		}
		var plain [n]state
		now := 0.0
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			now += float64(rapid.IntRange(0, 1).Draw(t, "later"))
			h := hosts.ID(rapid.IntRange(0, n-1).Draw(t, "host"))
			s := &plain[h]
			switch {
			case !s.up:
				s.up, s.since = true, now
				p.Rise(now, h)
			case s.jobs == 0 && rapid.Bool().Draw(t, "falls"):
				s.up = false
				p.Fall(h)
			case s.jobs > 0 && rapid.Bool().Draw(t, "ends"):
				if s.jobs--; s.jobs == 0 {
					s.since = now
				}
				p.End(now, h)
			default:
				s.jobs++
				p.Begin(h)
			}
			var want, got []hosts.ID
			up := 0
			for i, s := range plain {
				if s.up {
					up++
				}
				if s.up && s.jobs == 0 {
					want = append(want, hosts.ID(i))
				}
			}
			slices.SortFunc(want, func(a, b hosts.ID) int {
				return cmp.Or(cmp.Compare(plain[a].since, plain[b].since), cmp.Compare(a, b))
			})
			for h := p.FirstIdle(); h != None; h = p.NextIdle(h) {
				got = append(got, h)
			}
			if !slices.Equal(got, want) || p.Idle() != len(want) || p.Available() != up {
				t.Fatalf("idle %v of %d, want %v of %d", got, p.Available(), want, up)
			}
		}
	})
}

// picky takes idle hosts by index and refuses jobs by a rule.
type picky func(now, length float64) bool

func (m picky) Match(now, length float64, p *Pool) hosts.ID {
	if !m(now, length) {
		return None
	}
	for h := range hosts.ID(p.Len()) {
		if p.IsIdle(h) {
			return h
		}
	}
	return None
}

func (picky) Piles() bool { return false }

// TestQueue checks the queue against a plain reading of its rule: at a tick go
// through the whole queue in order, skip jobs on hold, stop when no host is
// idle, put refused jobs on hold where they are.
func TestQueue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := DefaultQueue()
		o.Hold = float64(rapid.SampledFrom([]int{0, 60, 100, 300}).Draw(t, "hold"))
		o.Mode = rapid.SampledFrom([]string{"skip", "block"}).Draw(t, "mode")
		o.Resubmit = rapid.SampledFrom([]string{"tail", "head", "drop"}).Draw(t, "resubmit")
		q, err := NewQueue(o)
		if err != nil {
			t.Fatal(err)
		}
		const n = 3
		p := NewPool(make([]*availability.History, n))
		for h := range hosts.ID(n) {
			p.Rise(0, h)
		}
		salt := rapid.Uint64().Draw(t, "salt")
		accepts := picky(func(now, length float64) bool {
			return rand.New(rand.NewPCG(salt, uint64(now*1000+length))).IntN(3) > 0
		})

		type waiting struct {
			job   int32
			until float64
		}
		var plain []waiting
		var running [n]int32
		for h := range running {
			running[h] = -1
		}
		var blocked float64
		jobs := int32(0)
		for tick := range rapid.IntRange(0, 80).Draw(t, "ticks") {
			now := float64(tick) * 60
			for range rapid.IntRange(0, 2).Draw(t, "submitted") {
				q.Submit(jobs, float64(jobs))
				plain = append(plain, waiting{job: jobs})
				jobs++
			}
			for h := range running {
				job := running[h]
				if job < 0 || rapid.Bool().Draw(t, "goes on") {
					continue
				}
				running[h] = -1
				p.End(now, hosts.ID(h))
				if rapid.Bool().Draw(t, "done") {
					continue
				}
				back := q.Resubmit(job)
				if back != (o.Resubmit != "drop") {
					t.Fatalf("resubmit %s: waits again: %v", o.Resubmit, back)
				}
				switch o.Resubmit {
				case "tail":
					plain = append(plain, waiting{job: job})
				case "head":
					plain = append([]waiting{{job: job}}, plain...)
				}
			}

			var want []Placement
			if now >= blocked {
				for i := 0; i < len(plain); {
					if plain[i].until > now {
						i++
						continue
					}
					host := slices.Index(running[:], -1)
					if host < 0 {
						break
					}
					job := plain[i].job
					if !accepts(now, float64(job)) {
						if o.Mode == "block" {
							blocked = now + o.Hold
							break
						}
						plain[i].until = now + o.Hold
						i++
						continue
					}
					running[host] = job
					want = append(want, Placement{job, hosts.ID(host)})
					plain = slices.Delete(plain, i, i+1)
				}
			}
			got := q.Tick(now, p, accepts, nil)
			if !slices.Equal(got, want) {
				t.Fatalf("at %v: placed %v, want %v", now, got, want)
			}
			if q.Len() != len(plain) {
				t.Fatalf("at %v: %d wait, want %d", now, q.Len(), len(plain))
			}
		}
	})
}

// TestThreshold checks that the first reliable host in the order asked for is
// taken, and none if none is, to the tolerance of the float policy.
func TestThreshold(t *testing.T) {
	t.Parallel()
	known := oracle{"0": 0.4, "1": 0.7 - 1e-12, "2": 0.9, "3": 0.7}
	for _, c := range []struct {
		order     string
		threshold float64
		want      []hosts.ID // taken one after another, each for good
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

// TestThresholdRotates checks that rotation goes on behind the last one taken.
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

// TestJudged checks that the threshold decides alike whether tde is asked for
// its forecast or only whether it meets the threshold.
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
		for range 50 {
			now, length := float64(rng.IntN(9*int(availability.Day))), float64(1+rng.IntN(10_000))
			f := tde.Predict(h, now, length)
			for _, least := range []float64{0.1, 1.0 / 3, 0.5, 0.7, 0.9, 1, f.Completes} {
				want := f.Completes >= least-slack
				if got := tde.AtLeast(h, now, length, least-slack); got != want {
					t.Fatalf("seed %d, %+v: at least %v is %v, forecast %v", seed, o, least, got, f.Completes)
				}
			}
		}
	}
}

// TestPPS checks eq. 1 with each load and each way to tell equals apart.
func TestPPS(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		options  string
		fast     bool
		loads    []float64
		forecast []float64
		busy     map[hosts.ID]int
		want     []hosts.ID // one after another, each kept
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
			if err := yaml.UnmarshalWithOptions([]byte(c.options), &o, yaml.Strict()); err != nil {
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

// TestByLot checks that random and pps with ties at random reach every host,
// and random idle ones only.
func TestByLot(t *testing.T) {
	t.Parallel()
	p := fleet(t, false, 0, 0, 0, 0)
	p.Begin(2)
	random, err := New("random", nil, rand.New(rand.NewPCG(1, 1)))
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

// TestNew checks that every matchmaker of the table is made with its defaults,
// serves a queue, and that wrong options and names are errors.
func TestNew(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		m, err := New(name, nil, rand.New(rand.NewPCG(1, 1)))
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
		if Doc(name) == "" {
			t.Errorf("%s has no doc", name)
		}
	}
	for _, c := range [][2]string{
		{"threshold", "threshold: 2"}, {"threshold", "idle_order: lifo"}, {"threshold", "predictor: oracle"}, {"threshold", "predictor: {name: tde, options: {dais: 1}}"},
		{"pps", "pps_load: x"}, {"pps", "pps_tie: x"}, {"pps", "pps_tie: random"}, {"random", ""}, {"fcfs", ""},
	} {
		decode := func(o any) error { return yaml.UnmarshalWithOptions([]byte(c[1]), o, yaml.Strict()) }
		if c[1] == "" {
			decode = nil
		}
		if _, err := New(c[0], decode, nil); err == nil {
			t.Errorf("%s, %s: no error", c[0], c[1])
		}
	}
	for _, o := range []QueueOptions{{-1, "skip", "tail"}, {0, "x", "tail"}, {0, "skip", "x"}} {
		if _, err := NewQueue(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}
