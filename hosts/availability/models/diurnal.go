package models

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"bourse/hosts/availability"
)

// DiurnalOptions are the options of "diurnal".
type DiurnalOptions struct {
	// Rate is the number of owner visits per hour during working hours; at least 0, default
	// 2.25.
	Rate float64 `yaml:"rate" validate:"min=0,max=60" doc:"owner visits per hour during working hours"`

	// Het is the variation between hosts: the visit rate of a host is Rate times a random
	// factor to the power of Het. At least 0, default 0.2; 0 gives all hosts the same visit
	// rate.
	Het float64 `yaml:"het" validate:"min=0,max=10" doc:"variation of the visit rate between hosts; 0 makes all hosts alike"`

	// Median, in seconds, and Sigma are the parameters of the log-normal length of a visit, and
	// Least is the minimum length in seconds. Defaults: 300, 1.2 and 20.
	Median float64 `yaml:"median" validate:"gt=0,max=86400" doc:"median length of a visit, s"`
	Sigma  float64 `yaml:"sigma" validate:"min=0,max=10" doc:"standard deviation of the logarithm of the length"`
	Least  float64 `yaml:"least" validate:"min=0,max=86400" doc:"shortest visit, s"`

	// Sessions is the maximum number of an owner's habitual sessions per day, and Kept is the
	// probability that one takes place. Defaults: 2 and 0.6.
	Sessions int     `yaml:"sessions" validate:"min=0,max=24" doc:"maximum habitual sessions per day"`
	Kept     float64 `yaml:"kept" validate:"min=0,max=1" doc:"probability that a habitual session takes place"`

	// Nights is the fraction of hosts that are off at night; default 0.15.
	Nights float64 `yaml:"nights" validate:"min=0,max=1" doc:"fraction of hosts that are off at night"`

	// Load is the maximum owner load while the host is available. The load is drawn uniformly
	// from [0, Load) every LoadEvery seconds, or once per interval if LoadEvery is 0. Defaults:
	// 0.2 and 600.
	Load      float64 `yaml:"load" validate:"min=0,max=1" doc:"maximum owner load while the host is available"`
	LoadEvery float64 `yaml:"load_every" validate:"omitempty,min=1" doc:"time between new draws of the load, s; 0 draws once per interval"`
}

// diurnal models office hosts. Each owner has up to two habitual sessions at fixed hours on
// some days, and random visits, mostly during working hours. Some hosts are off at night. A
// host is in state P while its owner is present and in state U while it is off.
//
// The published description of the trace leaves some values open. This model chooses them as
// follows. A host's factor is log-normal with sigma 1, times 1/2 or 1. Sessions start between 8
// and 20 h, up to a quarter of an hour early or late, and last half an hour to three hours.
// Nights begin between 19 and 22 h and end between 6 and 9 h.
type diurnal struct{ DiurnalOptions }

func newDiurnal(decode func(any) error) (Model, error) {
	o := DiurnalOptions{Rate: 2.25, Het: 0.2, Median: 300, Sigma: 1.2, Least: 20, Sessions: 2, Kept: 0.6, Nights: 0.15, Load: 0.2, LoadEvery: 600}
	err := decode(&o)
	return diurnal{o}, err
}

// An absence is a period in which the host is unavailable.
type absence struct {
	start, end float64
	state      availability.State
}

// Trace implements [Model].
func (m diurnal) Trace(rng *rand.Rand, n int, span float64) (*availability.Trace, error) {
	return fleet(rng, n, span, func(rng *rand.Rand, w *writer) {
		var away []absence
		away = m.visits(rng, span, away)
		away = m.habits(rng, span, away)
		away = m.nights(rng, span, away)
		slices.SortStableFunc(away, func(a, b absence) int { return cmp.Compare(a.start, b.start) })
		m.write(rng, w, away)
	})
}

// visits appends the visits of one owner: a Poisson process with an hourly rate.
func (m diurnal) visits(rng *rand.Rand, span float64, away []absence) []absence {
	class := []float64{0.5, 1}[rng.IntN(2)]
	rate := m.Rate / 3600 * math.Pow(class*math.Exp(rng.NormFloat64()), m.Het)
	for at := 0.0; rate > 0; {
		if at += rng.ExpFloat64() / rate; at >= span {
			break
		}
		if rng.Float64() < hourly(at) {
			length := max(m.Median*math.Exp(m.Sigma*rng.NormFloat64()), m.Least)
			away = append(away, absence{at, at + length, availability.UserPresent})
		}
	}
	return away
}

// hourly returns the visit rate at a given time, relative to the rate in working hours.
func hourly(at float64) float64 {
	switch h := math.Mod(at, availability.Day) / 3600; {
	case h >= 9 && h < 18:
		return 1
	case h >= 18 && h < 23:
		return 0.5
	case h >= 7 && h < 9:
		return 0.3
	}
	return 0.08
}

// habits appends the habitual sessions of one owner.
func (m diurnal) habits(rng *rand.Rand, span float64, away []absence) []absence {
	for range rng.IntN(m.Sessions + 1) {
		clock := uniform(rng, 8, 20) * 3600
		length := uniform(rng, 0.5, 3) * 3600
		for day := 0.0; day < span; day += availability.Day {
			start := day + clock + 900*rng.NormFloat64()
			if rng.Float64() < m.Kept {
				away = append(away, absence{start, start + length, availability.UserPresent})
			}
		}
	}
	return away
}

// nights appends the nights of a host that is off at night, starting before the trace.
func (m diurnal) nights(rng *rand.Rand, span float64, away []absence) []absence {
	if rng.Float64() >= m.Nights {
		return away
	}
	for day := -availability.Day; day < span; day += availability.Day {
		away = append(away, absence{day + uniform(rng, 19, 22)*3600, day + uniform(rng, 30, 33)*3600, availability.Unavailable})
	}
	return away
}

func uniform(rng *rand.Rand, from, to float64) float64 { return from + (to-from)*rng.Float64() }

// write writes the absences, which are sorted by start, and the available time between them. If
// two absences overlap, the earlier one is written in full.
func (m diurnal) write(rng *rand.Rand, w *writer, away []absence) {
	for _, a := range append(away, absence{start: w.span, end: w.span}) {
		for w.at < min(a.start, w.span) {
			length := a.start - w.at
			if m.LoadEvery > 0 {
				length = min(length, m.LoadEvery)
			}
			w.add(length, availability.Available, m.Load*rng.Float64())
		}
		if a.end > w.at {
			w.add(a.end-w.at, a.state, 0)
		}
	}
}
