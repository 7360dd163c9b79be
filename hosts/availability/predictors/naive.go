package predictors

import (
	"bourse/hosts/availability"
)

// naiveOptions are the options of "naive".
type naiveOptions struct {
	Days int `yaml:"days" validate:"min=1" doc:"number of past days used"` // number of past days used; at least 1, default 6
}

// naive predicts the fraction of the last days in which the host was available, regardless of
// the job's length and the time of day. It does not distinguish the states after an interval:
// the remaining probability is assigned to Unavailable. A host without history has probability
// 0.
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
