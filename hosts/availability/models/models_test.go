package models

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"bourse/hosts/availability"
	"bourse/hosts/availability/traces"
	"bourse/workloadgen/config"
)

func model(t *testing.T, name, options string) Model {
	t.Helper()
	m, err := Table().New(name, func(o any) error {
		if options == "" {
			return nil
		}
		return config.Read("", []byte(options), o)
	})

	if err != nil {
		t.Fatal(err)
	}
	return m
}

func unmarshal(text string, o any) error {
	return config.Read("", []byte(text), o)
}

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// TestTraces checks for every model that the same source gives the same bytes and another
// source gives others, that each host is recorded in whole seconds without gaps from 0 to the
// end, and that a larger fleet begins with the smaller one.
func TestTraces(t *testing.T) {
	t.Parallel()
	const span = 5*availability.Day + 1234
	for _, name := range Table().Names() {
		m := model(t, name, "")
		text := func(seed uint64, n int) []byte {
			trace, err := m.Trace(source(seed), n, span)
			if err != nil {
				t.Fatalf("%s, seed %d: %v", name, seed, err)
			}
			for _, h := range trace.Hosts {
				at := 0.0
				for _, r := range h.Records() {
					if r.Start != at || r.End != math.Round(r.End) {
						t.Fatalf("%s, seed %d: record %v follows %v", name, seed, r, at)
					}
					at = r.End
				}
				if at != span {
					t.Fatalf("%s, seed %d: ends at %v, want %v", name, seed, at, span)
				}
			}
			var b bytes.Buffer
			if err := traces.WriteCSV(&b, trace); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		}
		one := text(1, 40)
		if !bytes.Equal(one, text(1, 40)) {
			t.Errorf("%s: same seed, other bytes", name)
		}
		if bytes.Equal(one, text(2, 40)) {
			t.Errorf("%s: other seed, same bytes", name)
		}
		if !bytes.HasPrefix(one, text(1, 10)) {
			t.Errorf("%s: ten hosts are not the first of forty", name)
		}
		if Table().Doc(name) == "" {
			t.Errorf("%s has no doc", name)
		}
	}
}

// TestLaws checks each law's draws against its own mean, and that biased draws
// have the mean E[X²]/E[X] of the interval in which a random time falls, by
// resampling.
func TestLaws(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]law{
		"exponential": exponential(100), "weibull": weibull{0.8, 100}, "lognormal": logNormal{4, 0.7}, "gamma": gamma{0.6, 200},
	} {
		rng := source(5)
		const n = 400_000
		sum, squares, biased := 0.0, 0.0, 0.0
		for range n {
			x := l.draw(rng)
			sum += x
			squares += x * x
			biased += l.biased(rng)
		}
		if got, want := sum/n, l.mean(); math.Abs(got-want) > 0.02*want {
			t.Errorf("%s: mean %v, want %v", name, got, want)
		}
		if got, want := biased/n, squares/sum; math.Abs(got-want) > 0.03*want {
			t.Errorf("%s: mean of biased draws %v, want %v", name, got, want)
		}
	}
}

// TestEquilibrium checks that hosts start in equilibrium: the fraction of available hosts is
// the same in the first hour and on the tenth day, and equals the fraction computed from the
// means.
func TestEquilibrium(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, options string
		want          float64
	}{
		{"intervals", "{site: skype06, law: exp}", 16.27 / (16.27 + 14.31)},
		{"intervals", "{site: skype06, law: gamma}", 0.53 * 30.79 / (0.53*30.79 + 0.50*28.53)},
		{"intervals", "{site: nd07cpu, law: weibull, state: C}", weibull{0.45, 4.16}.mean() / (weibull{0.45, 4.16}.mean() + weibull{0.51, 0.74}.mean())},
		{"markov", "", model(t, "markov", "").(*markov).long[0]},
	} {
		trace, err := model(t, c.name, c.options).Trace(source(9), 4000, 10*availability.Day)
		if err != nil {
			t.Fatal(err)
		}
		for _, window := range [][2]float64{{0, 3600}, {9.9 * availability.Day, 10 * availability.Day}} {
			sum := 0.0
			for _, h := range trace.Hosts {
				for _, r := range h.Records() {
					if r.State == availability.Available {
						sum += max(min(r.End, window[1])-max(r.Start, window[0]), 0)
					}
				}
			}
			got := sum / (window[1] - window[0]) / float64(len(trace.Hosts))
			if !(math.Abs(got-c.want) <= 0.03) {
				t.Errorf("%s %s in %v: available %.3f, want %.3f", c.name, c.options, window, got, c.want)
			}
		}
	}
}

// TestMarkovSojourns compares the mean time in each state and the transitions from Available
// with the options.
func TestMarkovSojourns(t *testing.T) {
	t.Parallel()
	trace, err := model(t, "markov", "").Trace(source(3), 300, 20*availability.Day)
	if err != nil {
		t.Fatal(err)
	}
	m := model(t, "markov", "").(*markov)
	var time, count [5]float64
	var exits [5]float64
	load := 0.0
	for _, h := range trace.Hosts {
		records := h.Records()
		for i, r := range records {
			if available := r.State == availability.Available; !(r.Load >= 0 && r.Load < m.load) || !available && r.Load > 0 {
				t.Fatalf("load %v in %v", r.Load, r.State)
			} else if available {
				load += r.Load
			}
			time[r.State-1] += r.End - r.Start
			count[r.State-1]++
			if i > 0 && records[i-1].State == availability.Available {
				exits[r.State-1]++
			}
		}
	}
	near(t, "mean load while available", load/count[0], m.load/2, 0.05)
	leaves := exits[1] + exits[2] + exits[3] + exits[4]
	for s := range 5 {
		if got := time[s] / count[s]; math.Abs(got-m.mean[s]) > 0.05*m.mean[s] {
			t.Errorf("mean stay in %v: %v, want %v", availability.State(s+1), got, m.mean[s])
		}
		if got := exits[s] / leaves; math.Abs(got-m.next[0][s]) > 0.01 {
			t.Errorf("share of exits to %v: %v, want %v", availability.State(s+1), got, m.next[0][s])
		}
	}
}

// TestDiurnal checks that owners are rarely present at night, and that about 15 % of hosts are
// off then.
func TestDiurnal(t *testing.T) {
	t.Parallel()
	trace, err := model(t, "diurnal", "").Trace(source(4), 1000, 7*availability.Day)
	if err != nil {
		t.Fatal(err)
	}
	in := func(h float64) (present, off float64) {
		at := 3*availability.Day + h*3600
		for _, host := range trace.Hosts {
			switch host.State(at) {
			case availability.UserPresent:
				present++
			case availability.Unavailable:
				off++
			}
		}
		return present / 1000, off / 1000
	}
	if p, off := in(3); p > 0.1 || math.Abs(off-0.15) > 0.04 {
		t.Errorf("at 3 h: owners %v, off %v; want under 0.1, 0.15", p, off)
	}
	if p, off := in(14); p < 0.2 || off > 0.02 {
		t.Errorf("at 14 h: owners %v, off %v; want above 0.2, 0", p, off)
	}
}

// TestRefuses checks that wrong options and names are errors.
func TestRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"diurnal", "rate: -1"}, {"diurnal", "median: 0"}, {"diurnal", "sessions: -1"}, {"diurnal", "nights: .nan"},
		{"intervals", "site: mars"}, {"intervals", "law: zipf"}, {"intervals", "{site: ourgrid, law: gamma}"}, {"intervals", "state: A"}, {"intervals", "load: 2"},
		{"markov", "mean: [1, 1, 1, 1, 0]"}, {"markov", "next: [[0, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0]]"},
		{"markov", "next: [[1, 1, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0]]"},
		{"workstation", "state: X"}, {"workstation", "load: -1"}, {"tides", ""},
	} {
		if _, err := Table().New(c[0], func(o any) error { return config.Read("", []byte(c[1]), o) }); err == nil {
			t.Errorf("%s, %s: no error", c[0], c[1])
		}
	}
}

// TestPick checks that each index is drawn in proportion to its weight, whatever the sum of
// weights: 10,000 draws deviate by 0.02 with probability 4e-6.
func TestPick(t *testing.T) {
	t.Parallel()
	rng, n := rand.New(rand.NewPCG(1, 2)), 10_000
	seen := make([]float64, 3)
	for range n {
		seen[pick(rng, []float64{2, 0, 6})] += 1 / float64(n)
	}
	if !(math.Abs(seen[0]-0.25) <= 0.02) || seen[1] != 0 || !(math.Abs(seen[2]-0.75) <= 0.02) {
		t.Errorf("drawn %v of the time, want 0.25, 0, 0.75", seen)
	}
}

// TestMeans checks the mean intervals of a site under each law, in hours, against the formulas
// of the parameters.
func TestMeans(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]float64{
		"exp": 13.73, "weibull": 4.16 * math.Gamma(1+1/0.45), "lognormal": math.Exp(0.30 + 2.20*2.20/2), "gamma": 0.30 * 46.16,
	} {
		near(t, name, model(t, "intervals", "law: "+name).(*intervals).available.mean()/3600, want, 1e-12)
	}
}

// TestWorkstation checks mean intervals against those of the chain: for available intervals,
// the long-run mean of the three kinds; for unavailable ones, the mean of the two kinds that
// follow them, each at least seven minutes long.
func TestWorkstation(t *testing.T) {
	t.Parallel()
	trace, err := model(t, "workstation", "").Trace(source(6), 200, 30*availability.Day)
	if err != nil {
		t.Fatal(err)
	}
	var time, count [2]float64
	for _, h := range trace.Hosts {
		records := h.Records()
		for _, r := range records[:len(records)-1] { // the end of the trace cuts the last record
			k := 0
			if r.State != availability.Available {
				k = 1
			}
			if length := r.End - r.Start; k == 1 && (r.State != availability.UserPresent || length < 7*60-1) {
				t.Fatalf("away for %v s, %v", length, r.State)
			}
			time[k] += r.End - r.Start
			count[k]++
		}
	}
	long := startWeights()
	for range 1000 {
		var after [3]float64
		for i, row := range nextWeights() {
			for j, x := range row {
				after[j] += long[i] * x
			}
		}
		long = after
	}
	on, off := 0.0, 0.0
	for i, share := range long {
		on += share * availableMeans()[i]
		for j, x := range awayWeights()[i] {
			mean := awayMeans()[j]
			off += share * x * (awayLeast + mean*math.Exp(-awayLeast/mean)) // E max(7, X)
		}
	}
	near(t, "available", time[0]/count[0]/60, on, 0.03)
	near(t, "away", time[1]/count[1]/60, off, 0.03)
}
