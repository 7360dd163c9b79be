package study

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"bourse/market"
	"bourse/workloadgen/swf"
)

// TestDrawn checks that generated series have the stated mean price for any arrivals: the
// mean number of bids times their mean duration and rate, minus the start, when there are
// no bids. The tolerance is 4 standard deviations for a Poisson process and 25 % for
// bursts.
func TestDrawn(t *testing.T) {
	t.Parallel()
	const seed = 7
	for _, s := range Drawn(func(name string) rand.Source { return rand.NewPCG(seed, uint64(name[0])) }) {
		mean := 0.0
		for i, p := range s.steps {
			until := s.End
			if i+1 < len(s.steps) {
				until = s.steps[i+1].at
			}
			if until < p.at || p.price < 0 {
				t.Fatalf("%s: step %d of %+v goes back, or is below 0", s.Name, i, p)
			}
			mean += p.price.Float64() * (until - p.at) / s.End
		}
		want := drawnStay / drawnGap * drawnRate
		margin := 4 * 2 * want / math.Sqrt(drawnSpan/drawnGap) // for a sum of n products of two exponentials: deviation √3 of the mean, and √n of their number
		if s.Name == "bursty" {
			margin = want / 4
		}
		if math.Abs(mean-want) > margin {
			t.Errorf("%s: mean price %v, want %v within %v; seed %d", s.Name, mean, want, margin, seed)
		}
	}
}

// TestBursty checks that the busiest hour of bursts has many times the arrivals of a Poisson
// process. The 192 hours are halved 7.6 times. The busiest hour therefore contains the fraction
// 0.7^7.6 of all arrivals, as many as arrive in 13 hours on average.
func TestBursty(t *testing.T) {
	t.Parallel()
	busiest := func(arrivals []float64) int {
		var hours [int(drawnSpan / 3600)]int
		most := 0
		for _, at := range arrivals {
			hours[int(at/3600)]++
			most = max(most, hours[int(at/3600)])
		}
		return most
	}
	rng := rand.New(rand.NewPCG(3, 0))
	b, p := bursty(rng), arrivals(rng, 0)
	if len(b) != int(drawnSpan/drawnGap) || busiest(b) < 4*busiest(p) {
		t.Errorf("%d bursty arrivals, %d in the busiest hour; a Poisson process has %d", len(b), busiest(b), busiest(p))
	}
}

// TestDemand checks the price computed from a log's jobs, and the price in a file of spot
// prices, against values computed by hand.
func TestDemand(t *testing.T) {
	t.Parallel()
	const log = "1 0 0 10 2 -1 -1 2 -1 -1 1 1 1 1 1 -1 -1 -1\n2 4 0 10 3 -1 -1 3 -1 -1 1 1 1 1 1 -1 -1 -1\n3 20 0 5 1 -1 -1 1 -1 -1 1 1 1 1 1 -1 -1 -1\n"
	trace, err := swf.Read(strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	s := demand("d", trace)
	want := []step{{0, 2}, {4, 5}, {10, 3}, {14, 0}}
	if s.End != 20 || len(s.steps) != len(want) {
		t.Fatalf("%+v, want %v", s, want)
	}
	for i := range want {
		if s.steps[i] != want[i] {
			t.Errorf("step %d is %v, want %v", i, s.steps[i], want[i])
		}
	}
	text := "series,time,price_usd_per_hour\n"
	for _, name := range spots {
		text += name + ",2010-01-01 01:00:00,7.2\n" + name + ",2010-01-01 00:00:00,3.6\nother,x,y\n"
	}
	all, err := parseSpot(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(spots) || all[0].End != 3600 || all[0].steps[0] != (step{0, 1e6}) || all[0].steps[1] != (step{3600, 2e6}) {
		t.Errorf("%+v", all)
	}
	for _, bad := range []string{"", "a,b,c\n", text + spots[0] + ",yesterday,1\n", text + spots[0] + ",2010-01-01 00:00:00,-1\n"} {
		if _, err := parseSpot(strings.NewReader(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// TestRecordedAbsent checks that missing files are reported.
func TestRecordedAbsent(t *testing.T) {
	t.Parallel()
	all, notes, err := Recorded(t.TempDir())
	if err != nil || len(all) != 0 || len(notes) != 1+len(demands) || !strings.Contains(notes[0], "omitted") {
		t.Errorf("%d series, notes %q, error %v", len(all), notes, err)
	}
}

// TestCover checks the coverage of a price against a value computed by hand. The price is 1 and
// then 3, for half of the time each, and the forecast is at most 2.
func TestCover(t *testing.T) {
	t.Parallel()
	s := Series{Name: "two", Window: 10, End: 40, steps: []step{{0, dollar}, {20, 3 * dollar}}}
	c, err := cover(s, "always", always(2), 0.5)
	if err != nil {
		t.Fatal(err)
	}
	// Forecasts are made at 0, 1, .. 30 s. Those up to 10 s are covered, the one at 20 s is
	// not, and each one in between is covered for 10 % less.
	if want := (11 + 4.5) / 31; c.Forecasts != 31 || math.Abs(c.Covered-want) > 1e-9 || math.Abs(c.Sharpness-1) > 1e-9 || math.Abs(c.Pinball-0.25) > 1e-9 {
		t.Errorf("%+v, want covered for %v", c, want)
	}
	if _, err := cover(Series{Name: "short", Window: 10, End: 5}, "always", always(2), 0.5); err == nil {
		t.Error("a series shorter than its window: no error")
	}
}

type always float64

func (a always) Percentile(*market.History, float64, float64) float64 { return float64(a) }
