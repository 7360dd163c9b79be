package predictors

import (
	"bourse/hosts/availability"
	"bourse/workloadgen/config"
)

// TDEOptions are those of "tde". The paper leaves all but Days and Plen open.
type TDEOptions struct {
	// Days is N, how many past days are looked at; at least 1, 6 by default.
	Days int `yaml:"days" validate:"min=1" doc:"N, the number of past days used"`

	// Plen is the length of the window looked at, in lengths of the job: more
	// than 0, 3 by default (§5).
	Plen float64 `yaml:"plen" validate:"gt=0" doc:"window, as a multiple of the job's length"`

	// Count says how often a job fits into an available stretch: "ceil", the
	// default, rounds up, "floor" down, "frac" not at all. Rounded up, each
	// stretch counts for at least as much as its exit, so no day with any
	// availability is below 1/2: that is what makes Figures 1 and 2 flat below
	// T = 50 %. Rounding down is the natural reading of §3.
	Count string `yaml:"count" validate:"oneof=ceil floor frac" doc:"how many times a job fits an available interval: ceil (no day with one is below 1/2), floor (the better predictor) or frac"`

	// Unit is what is counted: executions ("exec", the default) or whole
	// windows ("plen").
	Unit string `yaml:"unit" validate:"oneof=exec plen" doc:"counts exec (executions) or plen (whole windows)"`

	// Weight is "day" if each day counts alike, the default and the paper's
	// example in §5, or "pooled" if each completion and each exit does.
	Weight string `yaml:"weight" validate:"oneof=day pooled" doc:"weighting: day (days count equally) or pooled (completions and exits count equally)"`

	// Empty is how a day counts on which the host was not available in the
	// window: "zero", the default, "one", or "skip" for not at all.
	Empty string `yaml:"empty" validate:"oneof=zero skip one" doc:"value of a day on which the host was unavailable at that time: zero, one or skip"`

	// Missing is the same for a day before the host's trace, or after it:
	// "skip" by default.
	Missing string `yaml:"missing" validate:"oneof=skip zero one" doc:"value of a day that the trace does not cover: skip, zero or one"`

	// NoHistory is the reliability where no day counts; in [0,1], 0 by default.
	NoHistory float64 `yaml:"no_history" validate:"min=0,max=1" doc:"reliability if no day counts"`
}

// DefaultTDE returns the options that reproduce the paper.
func DefaultTDE() TDEOptions {
	return TDEOptions{Days: 6, Plen: 3, Count: "ceil", Unit: "exec", Weight: "day", Empty: "zero", Missing: "skip"}
}

// TDE predicts by transitions on the last N days with equal weights (§3). A job
// of length L at now looks at the window of the same time of day,
//
//	W(d) = [now - d days, min(now - d days + plen L, now)), d = 1..N
//
// counts how often L fits into the available stretches of it, c, and how often
// a stretch ended in it by each way out, x; the day's reliability is c/(c+Σx),
// the day's chance of each way out x/(c+Σx), and the forecast their mean.
type TDE struct {
	days      int
	plen      float64
	rounding  rounding
	unit      float64 // in lengths
	pooled    bool
	empty     rule
	missing   rule
	noHistory float64
}

// A rounding is what is done to the number of times a job fits.
type rounding uint8

const (
	exact rounding = iota
	down
	up
)

// A rule is how a day counts.
type rule uint8

const (
	skip    rule = iota
	zero         // as unavailable
	one          // as reliable
	counted      // by what was counted
)

func newTDE(decode func(any) error) (Predictor, error) {
	o := DefaultTDE()
	if err := decode(&o); err != nil {
		return nil, err
	}
	return NewTDE(o)
}

// NewTDE makes the predictor; the error names the option that is wrong.
func NewTDE(o TDEOptions) (*TDE, error) {
	if err := config.Check(&o); err != nil {
		return nil, err
	}
	p := &TDE{days: o.Days, plen: o.Plen, unit: 1, pooled: o.Weight == "pooled", noHistory: o.NoHistory}
	p.rounding = map[string]rounding{"frac": exact, "floor": down, "ceil": up}[o.Count]
	if o.Unit == "plen" {
		p.unit = o.Plen
	}
	rules := map[string]rule{"zero": zero, "one": one, "skip": skip}
	p.empty, p.missing = rules[o.Empty], rules[o.Missing]
	return p, nil
}

// AtLeast implements [Judge]. It stops at the day that settles it: if all days
// to come were reliable, or none, the mean would still be on that side.
func (p *TDE) AtLeast(past *Past, now, length, least float64) bool {
	h := past.History
	if p.pooled {
		return p.Predict(h, now, length).Completes >= least
	}
	past.see(now, p.days)
	sum, n := 0.0, 0.0
	for d := 1; d <= p.days; d++ {
		w := p.window(now, length, d)
		switch c := past.after(d, w.from); {
		case c.start <= w.from && w.from < w.to && w.to <= c.end && p.rounding != down: // nothing but completions
			sum++
		default:
			rule := p.rule(w, h)
			if rule == counted {
				fits, exits := p.count(h, w, length, int(c.index))
				if fits+exits > 0 {
					sum += fits / (fits + exits)
				} else {
					rule = p.empty
				}
			}
			switch rule {
			case skip:
				continue
			case one:
				sum++
			}
		}
		n++
		left := float64(p.days - d)
		if sum >= least*(n+left) {
			return true
		}
		if sum+left < least*(n+left) {
			return false
		}
	}
	if n == 0 {
		return p.noHistory >= least
	}
	return sum >= least*n
}

// Predict implements [Predictor]. It allocates nothing.
func (p *TDE) Predict(h *availability.History, now, length float64) Forecast {
	var days, counts Forecast // sums over days
	n := 0.0
	for d := 1; d <= p.days; d++ {
		w := p.window(now, length, d)
		rule := p.rule(w, h)
		if rule == counted {
			first := h.After(w.from)
			fits, exits := p.count(h, w, length, first)
			if fits+exits > 0 {
				f := w.exits(h.Intervals()[first:])
				f.Completes = fits
				counts.add(f)
				days.add(f.over(fits + exits))
			} else {
				rule = p.empty
			}
		}
		switch rule {
		case skip:
			continue
		case zero:
			days.Unavailable++
		case one:
			days.Completes++
		}
		n++
	}
	switch total := counts.sum(); {
	case p.pooled && total > 0:
		return counts.over(total)
	case n == 0:
		return Forecast{Completes: p.noHistory, Unavailable: 1 - p.noHistory}
	default:
		return days.over(n)
	}
}
