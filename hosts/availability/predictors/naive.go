package predictors

import (
	"bourse/hosts/availability"
)

// naiveOptions are those of "naive".
type naiveOptions struct {
	Days int `yaml:"days" validate:"min=1" doc:"number of past days used"` // how many past days are looked at; at least 1, 6 by default
}

// naive predicts the share of the last days in which the host was available,
// whatever the job's length and the time of day. It does not tell ways out
// apart: what is left is Unavailable. A host without history has no chance.
type naive struct{ days float64 }

func newNaive(decode func(any) error) (Predictor, error) {
	o := naiveOptions{Days: 6}
	err := decode(&o)
	return naive{float64(o.Days)}, err
}

// Predict implements [Predictor].
func (p naive) Predict(h *availability.History, now, _ float64) Forecast {
	start, end := h.Span()
	from, to := max(now-p.days*availability.Day, start), min(now, end)
	share := 0.0
	if from < to {
		share = min(h.Available(from, to)/(to-from), 1)
	}
	return Forecast{Completes: share, Unavailable: 1 - share}
}
