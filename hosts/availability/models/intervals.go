package models

import (
	"fmt"
	"math/rand/v2"

	"bourse/hosts/availability"
)

// IntervalsOptions are the options of "intervals".
type IntervalsOptions struct {
	// Site is the recorded system from which the distributions come: "g5k06", "lanl05",
	// "microsoft99", "nd07cpu" (the default), "ourgrid", "overnet03", "pl05" or "skype06".
	Site string `yaml:"site" validate:"oneof=g5k06 lanl05 microsoft99 nd07cpu ourgrid overnet03 pl05 skype06" doc:"recorded system"`

	// Law is the fitted family: "exp", "weibull" (the default), "lognormal" or "gamma". For
	// ourgrid there is only a log-normal.
	Law string `yaml:"law" validate:"oneof=exp weibull lognormal gamma" doc:"fitted family; ourgrid has only lognormal"`

	// State is the state between intervals: U (the default), P, C or E.
	State string `yaml:"state" validate:"oneof=P C E U" doc:"state of the host between intervals"`

	// Load is the maximum owner load while the host is available. The load of each interval is
	// drawn uniformly from [0, Load). In [0,1], default 0.2.
	Load float64 `yaml:"load" validate:"min=0,max=1" doc:"maximum owner load while the host is available"`
}

// intervals alternates available and unavailable intervals with independent lengths, regardless
// of the time of day. It starts in equilibrium.
type intervals struct {
	available, unavailable law
	state                  availability.State
	load                   float64
}

func newIntervals(decode func(any) error) (Model, error) {
	o := IntervalsOptions{Site: "nd07cpu", Law: "weibull", State: "U", Load: 0.2}
	if err := decode(&o); err != nil {
		return nil, err
	}
	s := sites()[o.Site]
	var f fit
	var family func([2]float64) law
	const hour = 3600
	switch o.Law {
	case "exp":
		f, family = s.exp, func(p [2]float64) law { return exponential(p[0] * hour) }
	case "weibull":
		f, family = s.weibull, func(p [2]float64) law { return weibull{p[0], p[1] * hour} }
	case "lognormal":
		f, family = s.lognormal, func(p [2]float64) law { return logNormal{p[0] + lnHour, p[1]} }
	case "gamma":
		f, family = s.gamma, func(p [2]float64) law { return gamma{p[0], p[1] * hour} }
	}
	if f == (fit{}) {
		return nil, fmt.Errorf("site %s has no distribution %s", o.Site, o.Law)
	}
	state, err := availability.ParseState(o.State)
	if err != nil {
		return nil, err
	}
	return &intervals{family(f.available), family(f.unavailable), state, o.Load}, nil
}

// Trace implements [Model].
func (m *intervals) Trace(rng *rand.Rand, n int, span float64) (*availability.Trace, error) {
	return fleet(rng, n, span, func(rng *rand.Rand, w *writer) {
		on := m.available.mean()
		up := rng.Float64() < on/(on+m.unavailable.mean())
		left := rng.Float64() * m.law(up).biased(rng)
		for !w.full() {
			if up {
				w.add(left, availability.Available, m.load*rng.Float64())
			} else {
				w.add(left, m.state, 0)
			}
			up = !up
			left = m.law(up).draw(rng)
		}
	})
}

func (m *intervals) law(up bool) law {
	if up {
		return m.available
	}
	return m.unavailable
}
