package predictors

import (
	"bourse/hosts/availability"
	"bourse/workloadgen/config"
)

// TDEOptions are the options of "tde". The paper specifies only Days and Plen.
type TDEOptions struct {
	// Days is N, the number of past days used; at least 1, default 6.
	Days int `yaml:"days" validate:"min=1" doc:"N, the number of past days used"`

	// Plen is the length of the window as a multiple of the job's length: above 0, default 3
	// (§5).
	Plen float64 `yaml:"plen" validate:"gt=0" doc:"window, as a multiple of the job's length"`

	// Count is the rounding of the number of times that a job fits an available period: "ceil"
	// (up, the default), "floor" (down) or "frac" (none). With "ceil", each period counts at
	// least as much as its exit, so no day with any availability is below 1/2. This makes
	// Figures 1 and 2 flat below T = 50 %. The natural interpretation of §3 is "floor".
	Count string `yaml:"count" validate:"oneof=ceil floor frac" doc:"how many times a job fits an available interval: ceil (no day with one is below 1/2), floor (the better predictor) or frac"`

	// Unit is the unit of counting: executions ("exec", the default) or whole windows ("plen").
	Unit string `yaml:"unit" validate:"oneof=exec plen" doc:"counts exec (executions) or plen (whole windows)"`

	// Weight is "day" if days count equally (the default, as in the paper's example in §5), or
	// "pooled" if completions and exits count equally.
	Weight string `yaml:"weight" validate:"oneof=day pooled" doc:"weighting: day (days count equally) or pooled (completions and exits count equally)"`

	// Empty is the value for a day on which the host was unavailable throughout the window: "zero"
	// (the default), "one", or "skip", which omits the day.
	Empty string `yaml:"empty" validate:"oneof=zero skip one" doc:"value of a day on which the host was unavailable at that time: zero, one or skip"`

	// Missing is the value of a day before or after the host's trace; default "skip".
	Missing string `yaml:"missing" validate:"oneof=skip zero one" doc:"value of a day that the trace does not cover: skip, zero or one"`

	// NoHistory is the reliability if no day counts; in [0,1], default 0.
	NoHistory float64 `yaml:"no_history" validate:"min=0,max=1" doc:"reliability if no day counts"`
}

// DefaultTDE returns the options that reproduce the paper.
func DefaultTDE() TDEOptions {
	return TDEOptions{Days: 6, Plen: 3, Count: "ceil", Unit: "exec", Weight: "day", Empty: "zero", Missing: "skip"}
}

// TDE predicts from the transitions of the last N days with equal weights (§3). For a job of
// length L at now, it uses the window at the same time of day,
//
//	W(d) = [now - d days, min(now - d days + plen L, now)), d = 1..N
//
// It counts how many times L fits into the available periods of the window, c, and how many
// periods ended in it with each exit state, x. The reliability of the day is c/(c+Σx), and the
// probability of each exit state is x/(c+Σx). The forecast is the mean over the days.
type TDE struct {
	days      int
	plen      float64
	rounding  rounding
	unit      float64 // multiple of the job's length that counts as 1
	pooled    bool
	empty     rule
	missing   rule
	noHistory float64
}

// A rounding is applied to the number of times that a job fits.
type rounding uint8

const (
	exact rounding = iota
	down
	up
)

// A rule determines how a day counts.
type rule uint8

const (
	skip    rule = iota
	zero         // counts as unavailable
	one          // counts as reliable
	counted      // counts by completions and exits
)

func newTDE(decode func(any) error) (Predictor, error) {
	o := DefaultTDE()
	if err := decode(&o); err != nil {
		return nil, err
	}
	return NewTDE(o)
}

// NewTDE creates the predictor. The error names the invalid option.
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

// AtLeast implements [Judge]. It stops as soon as the remaining days cannot change the result,
// whether they are all reliable or all unreliable.
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
		case c.start <= w.from && w.from < w.to && w.to <= c.end && p.rounding != down: // only completions
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
