package models

import (
	"fmt"
	"math"
	"testing"

	"bourse/hosts/availability"
)

// TestHourly checks the visit rate after each boundary of the day.
func TestHourly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ hour, want float64 }{
		{0, 0.08}, {6.99, 0.08}, {7, 0.3}, {8.99, 0.3}, {9, 1}, {17.99, 1}, {18, 0.5}, {22.99, 0.5}, {23, 0.08}, {24 + 9, 1}, {48 + 6, 0.08},
	} {
		if got := hourly(c.hour * 3600); got != c.want {
			t.Errorf("at %v h: %v, want %v", c.hour, got, c.want)
		}
	}
}

// near fails the test unless got is within the given fraction of want.
func near(t *testing.T, what string, got, want, part float64) {
	t.Helper()
	if math.Abs(got-want) > part*math.Abs(want) {
		t.Errorf("%s: %v, want %v to within %v of it", what, got, want, part)
	}
}

// TestVisits checks that visits occur at the rate of their hour, have the documented
// distribution of lengths and minimum length, and that the rates of hosts differ by the
// documented factor, with mean 3/4 e^(1/2) at het 1.
func TestVisits(t *testing.T) {
	t.Parallel()
	const hosts = 3000
	for het, factor := range map[float64]float64{0: 1, 1: 0.75 * math.Exp(0.5)} {
		m := diurnal{DiurnalOptions{Rate: 2, Het: het, Median: 300, Sigma: 1.2, Least: 20}}
		rng, hours, short, least, all := source(7), [24]float64{}, 0.0, math.Inf(1), 0.0
		for range hosts {
			last := 0.0
			for _, a := range m.visits(rng, availability.Day, nil) {
				if a.start < last || a.start >= availability.Day || a.state != availability.UserPresent {
					t.Fatalf("%+v comes after %v", a, last)
				}
				last = a.start
				hours[int(a.start/3600)]++
				all++
				if least = min(least, a.end-a.start); a.end-a.start < 300 {
					short++
				}
			}
		}
		for _, h := range []int{10, 14, 20} { // for 3000 to 6000 visits, or several times that spread
			near(t, fmt.Sprintf("het %v, visits at %d h", het, h), hours[h]/hosts, 2*factor*hourly(float64(h)*3600), 0.15)
		}
		near(t, "visits shorter than the median", short/all, 0.5, 0.03)
		near(t, "shortest visit", least, 20, 1e-9)
	}
	if away := (diurnal{DiurnalOptions{Median: 300}}).visits(source(7), availability.Day, nil); len(away) > 0 {
		t.Errorf("at rate 0: %v", away)
	}
}

// TestHabits checks that an owner has between 0 and the maximum number of sessions, at its own
// hours from 8 to 20, up to a quarter of an hour early or late. Their lengths are from half an
// hour to three hours, and they take place on the given fraction of days.
func TestHabits(t *testing.T) {
	t.Parallel()
	m := diurnal{DiurnalOptions{Sessions: 2, Kept: 1}}
	rng, owners, lengths, starts, count := source(8), [3]float64{}, 0.0, 0.0, 0.0
	for range 3000 {
		away := m.habits(rng, 10*availability.Day, nil)
		owners[len(away)/10]++
		for s := 0; s+10 <= len(away); s += 10 {
			sum, squares := 0.0, 0.0
			for day := range 10 {
				a, first := away[s+day], away[s]
				length := a.end - a.start
				if math.Abs(length-(first.end-first.start)) > 1e-6 || length < 1800 || length > 3*3600 {
					t.Fatalf("a session of %v s, and one of %v", length, first.end-first.start)
				}
				clock := a.start - float64(day)*availability.Day
				sum += clock
				squares += clock * clock
				lengths += length
				starts += clock
				count++
			}
			spread := squares/10 - sum/10*sum/10
			if spread > 4*900*900 {
				t.Fatalf("a habit that moves by %v s", math.Sqrt(spread))
			}
		}
	}
	for n := range owners {
		near(t, fmt.Sprintf("owners of %d sessions", n), owners[n]/3000, 1./3, 0.1)
	}
	near(t, "length", lengths/count, 1.75*3600, 0.02)
	near(t, "hour", starts/count/3600, 14, 0.02)
	m.Kept = 0.6
	kept := 0
	for range 3000 {
		kept += len(m.habits(rng, 10*availability.Day, nil))
	}
	near(t, "kept", float64(kept)/3000, 0.6*10, 0.06)
}

// TestNights checks that the given fraction of hosts is off at night, from 19-22 h to 6-9 h,
// starting with the night before the trace.
func TestNights(t *testing.T) {
	t.Parallel()
	rng, off := source(9), 0.0
	m := diurnal{DiurnalOptions{Nights: 0.25}}
	for range 3000 {
		away := m.nights(rng, 3*availability.Day, nil)
		if len(away) == 0 {
			continue
		}
		if off++; len(away) != 4 {
			t.Fatalf("%d nights before and in three days, want 4", len(away))
		}
		for k, a := range away {
			from, to := a.start/3600-24*float64(k-1), a.end/3600-24*float64(k-1)
			if !(from >= 19 && from < 22 && to >= 30 && to < 33) || a.state != availability.Unavailable {
				t.Fatalf("night %d: %v from %v h to %v h", k, a.state, from, to)
			}
		}
	}
	near(t, "hosts", off/3000, 0.25, 0.15)
}

// TestWrite checks the available time between absences by hand. The earlier of two overlapping
// absences is written in full, and a new load is drawn at the given interval.
func TestWrite(t *testing.T) {
	t.Parallel()
	const u, p = availability.Unavailable, availability.UserPresent
	away := []absence{{-100, 50, u}, {1000, 1500, p}, {1200, 1300, u}, {1400, 2000, u}, {3900, 5000, p}}
	for every, want := range map[float64]string{
		0:   "U 0-50 A 50-1000 P 1000-1500 U 1500-2000 A 2000-3900 P 3900-4000 ",
		600: "U 0-50 A 50-650 A 650-1000 P 1000-1500 U 1500-2000 A 2000-2600 A 2600-3200 A 3200-3800 A 3800-3900 P 3900-4000 ",
	} {
		w := &writer{span: 4000}
		diurnal{DiurnalOptions{Load: 0.5, LoadEvery: every}}.write(source(1), w, away)
		got := ""
		for _, r := range w.records {
			got += fmt.Sprintf("%v %v-%v ", r.State, r.Start, r.End)
			if !(r.Load >= 0 && r.Load < 0.5) || r.State != availability.Available && r.Load > 0 {
				t.Errorf("load %v in %v", r.Load, r.State)
			}
		}
		if got != want {
			t.Errorf("every %v s: %s\nwant %s", every, got, want)
		}
	}
	w := &writer{span: 100}
	diurnal{}.write(source(1), w, []absence{{150, 200, p}})
	if len(w.records) != 1 || w.records[0].End != 100 {
		t.Errorf("an absence after the end: %v", w.records)
	}
}

// TestWriter checks that equal adjacent records are merged, that records are rounded to whole
// seconds without losing time, and that records that become empty are omitted.
func TestWriter(t *testing.T) {
	t.Parallel()
	w := &writer{span: 100}
	for _, r := range []struct {
		length float64
		state  availability.State
		load   float64
	}{{10.4, availability.Available, 0}, {10.4, availability.Available, 0}, {0.3, availability.Busy, 0}, {9, availability.Available, 0.5}, {9, availability.Available, 0.25}, {70, availability.Unavailable, 0}} {
		if w.full() {
			t.Errorf("full at %v", w.at)
		}
		w.add(r.length, r.state, r.load)
	}
	want := fmt.Sprint([]availability.Record{
		{Start: 0, End: 21, State: availability.Available}, {Start: 21, End: 30, State: availability.Available, Load: 0.5},
		{Start: 30, End: 39, State: availability.Available, Load: 0.25}, {Start: 39, End: 100, State: availability.Unavailable},
	})
	if got := fmt.Sprint(w.records); got != want || !w.full() {
		t.Errorf("%s, full %v, want %s", got, w.full(), want)
	}
}

// TestEdges checks the smallest and largest valid options.
func TestEdges(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"diurnal", "{rate: 0, het: 0, sigma: 0, least: 0, sessions: 0, kept: 0, nights: 0, load: 0, load_every: 0, median: 1}", "ok"},
		{"diurnal", "{rate: 60, het: 10, sigma: 10, least: 86400, sessions: 24, kept: 1, nights: 1, load: 1, load_every: 1, median: 86400}", "ok"},
		{"diurnal", "load_every: 0.5", ""}, {"diurnal", "median: 86401", ""}, {"diurnal", "rate: 61", ""}, {"diurnal", "load: 1.5", ""},
		{"intervals", "load: 0", "ok"}, {"intervals", "load: 1", "ok"}, {"intervals", "{law: lognormal, site: ourgrid}", "ok"},
		{"workstation", "{load: 1, state: C}", "ok"}, {"markov", "load: 1.5", ""}, {"markov", "mean: [.inf, 1, 1, 1, 1]", ""},
	} {
		_, err := Table().New(c[0], func(o any) error { return unmarshal(c[1], o) })
		if (err == nil) != (c[2] == "ok") {
			t.Errorf("%s, %s: %v", c[0], c[1], err)
		}
	}
}
