package predictors

import (
	"math"

	"bourse/hosts/availability"
)

// RenewalOptions are the options of "renewal".
type RenewalOptions struct {
	// Law is the distribution of interval lengths: "weibull" (the default), "lognormal" or
	// "exponential".
	Law string `yaml:"law" validate:"oneof=weibull lognormal exponential" doc:"distribution of interval lengths"`

	// Days is the number of past days whose intervals are fitted; 0 (the default) means all.
	Days int `yaml:"days" validate:"min=0" doc:"number of past days whose intervals are fitted; 0 means all"`

	// Least is the minimum number of intervals for a fit of two parameters; at least 2, default
	// 5. With fewer, the exponential distribution is used.
	Least int `yaml:"least" validate:"min=2" doc:"minimum intervals for a fit of two parameters; with fewer, the distribution is exponential"`
}

// renewal predicts, from the distribution of the host's past intervals, the probability that
// the current interval, which has lasted a seconds, lasts another L seconds:
//
//	S(a + L) / S(a)
//
// where S is the survival function. Weibull and log-normal are fitted by the first two moments
// of the logarithms (for the Weibull, π²/6k² and ln λ - γ/k), and the exponential by total time
// / exits. The states after an interval are distributed as in the fitted intervals. A host that
// was never available has probability 0.
type renewal struct {
	law   string
	days  float64
	least int32
}

func newRenewal(decode func(any) error) (Predictor, error) {
	o := RenewalOptions{Law: "weibull", Least: 5}
	err := decode(&o)
	return renewal{o.Law, float64(o.Days), int32(o.Least)}, err
}

// eulerGamma is Euler's constant γ.
const eulerGamma = 0.57721566490153286

// Predict implements [Predictor]. It allocates nothing.
func (p renewal) Predict(h *availability.History, now, length float64) Forecast {
	first, last := 0, h.After(now) // the intervals fitted
	if p.days > 0 {
		first = h.After(now - p.days*availability.Day)
	}
	from, to := h.Totals(first), h.Totals(last)
	age := 0.0
	if v, ok := h.At(now); ok {
		age = now - v.Start
	}
	n := float64(last - first)
	stays := p.survival(n, to.Time-from.Time, to.Log-from.Log, to.Log2-from.Log2, age, length)

	exits := [4]float64{}
	for s := range availability.States {
		k := float64(to.Exits[s] - from.Exits[s])
		switch availability.State(s) {
		case availability.UserPresent:
			exits[1] += k
		case availability.Busy:
			exits[2] += k
		case availability.Evicted, availability.Unavailable:
			exits[3] += k
		}
	}
	known := exits[1] + exits[2] + exits[3]
	if known == 0 {
		return Forecast{Completes: stays, Unavailable: 1 - stays}
	}
	leaves := (1 - stays) / known
	return Forecast{stays, leaves * exits[1], leaves * exits[2], leaves * exits[3]}
}

// survival returns S(age+length)/S(age) for the distribution fitted to n intervals with the
// given sums of lengths, of their logarithms and of their squares.
func (p renewal) survival(n, time, log, log2, age, length float64) float64 {
	mean := log / n
	variance := (log2 - log*mean) / (n - 1)
	if p.law == "exponential" || int32(n) < p.least || !(variance > 1e-9) {
		if time+age == 0 {
			return 0
		}
		return math.Exp(-n / (time + age) * length)
	}
	sd := math.Sqrt(variance)
	if p.law == "weibull" {
		k := math.Pi / (sd * math.Sqrt(6))
		scale := math.Exp(mean + eulerGamma/k)
		after := math.Pow((age+length)/scale, k)
		if math.IsInf(after, 1) {
			return 0
		}
		return math.Exp(math.Pow(age/scale, k) - after)
	}
	above := func(x float64) float64 { return math.Erfc((math.Log(x) - mean) / (sd * math.Sqrt2)) }
	if s := above(age); s > 0 {
		return above(age+length) / s
	}
	return 1 // the hazard of such an old interval approaches 0
}
