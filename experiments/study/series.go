package study

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"bourse/market"
)

// A Series is a price over time.
type Series struct {
	Name   string
	Window float64 // length of the history and of the forecasts, in seconds
	End    float64 // end of the series, in seconds; the series starts at 0
	steps  []step
}

// A step is a price, with the time from which it applies.
type step struct {
	at    float64
	price market.Rate
}

// A bid is a rate that applies for some time.
type bid struct {
	from, until float64
	rate        market.Rate
}

// series returns the price that results from all bids, from time 0 to end.
func series(name string, window, end float64, bids []bid) Series {
	type change struct {
		at float64
		by market.Rate
	}
	var changes []change
	for _, b := range bids {
		changes = append(changes, change{b.from, b.rate}, change{b.until, -b.rate})
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	s := Series{Name: name, Window: window, End: end}
	price := market.Rate(0)
	for _, c := range changes {
		if c.at >= end {
			break
		}
		price += c.by
		s.add(max(0, c.at), price)
	}
	return s
}

// add sets the price to p from time at on. Times must not decrease.
func (s *Series) add(at float64, p market.Rate) {
	if n := len(s.steps); n > 0 && s.steps[n-1].at == at {
		s.steps[n-1].price = p
		return
	}
	s.steps = append(s.steps, step{at, p})
}

// The parameters of generated series. Over 8 days, a bid arrives every 30 s on average. Its
// duration and its rate are exponentially distributed, with means of 10 minutes and one cent
// per second.
const (
	drawnGap    = 30.0
	drawnStay   = 600.0
	drawnRate   = 0.01
	drawnSpan   = 8 * day
	drawnWindow = 300.0
	day         = 86400.0
)

// Drawn returns three series. Bids arrive as a Poisson process, in bursts (b-model, Wang et
// al. 2002, "Data Mining Meets Performance Evaluation: Fast Algorithms for Modeling Bursty
// Traffic", bias 0.7), and with a daily cycle (a Poisson process whose rate varies by ±80 %).
// Chance returns the random stream with the given name.
func Drawn(chance func(name string) rand.Source) []Series {
	var all []Series
	for _, kind := range []struct {
		name     string
		arrivals func(*rand.Rand) []float64
	}{
		{"poisson", func(rng *rand.Rand) []float64 { return arrivals(rng, 0) }}, {"bursty", bursty},
		{"diurnal", func(rng *rand.Rand) []float64 { return arrivals(rng, 0.8) }},
	} {
		rng := rand.New(chance(kind.name))
		var bids []bid
		for _, at := range kind.arrivals(rng) {
			rate := market.Rate(rng.ExpFloat64() * drawnRate * 1e9)
			bids = append(bids, bid{at, at + rng.ExpFloat64()*drawnStay, rate})
		}
		all = append(all, series(kind.name, drawnWindow, drawnSpan, bids))
	}
	return all
}

// arrivals returns arrival times of a Poisson process with the mean gap drawnGap. If swing
// is not 0, the rate follows a daily cycle.
func arrivals(rng *rand.Rand, swing float64) (all []float64) {
	gap := drawnGap / (1 + swing)
	for at := rng.ExpFloat64() * gap; at < drawnSpan; at += rng.ExpFloat64() * gap {
		if swing == 0 || rng.Float64() < (1+swing*math.Sin(2*math.Pi*at/day))/(1+swing) {
			all = append(all, at)
		}
	}
	return all
}

// bursty returns about as many arrival times as the function arrivals does. One half of the
// time contains 70 % of the arrivals, and the other half contains 30 %. Each half is divided
// in the same way, recursively.
func bursty(rng *rand.Rand) (all []float64) {
	const bias, least = 0.7, 1.0 // least is in seconds
	var split func(n int, from, span float64)
	split = func(n int, from, span float64) {
		switch {
		case n == 0:
		case span < least:
			for range n {
				all = append(all, from+span*rng.Float64())
			}
		default:
			first := int(bias*float64(n) + rng.Float64())
			if rng.IntN(2) == 0 {
				first = n - first
			}
			split(first, from, span/2)
			split(n-first, from+span/2, span/2)
		}
	}
	n := drawnSpan / drawnGap
	split(int(n), 0, drawnSpan)
	slices.Sort(all)
	return all
}
