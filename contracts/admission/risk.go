package admission

import (
	"math"

	"bourse/contracts/sharing"
)

// A Risk is that of the tasks on a host ending late by unequal parts of the time
// that they have left (Risk, eq. 4 to 6).
type Risk struct {
	Mean  float64 // μ of the deadline delays
	Sigma float64 // their standard deviation
}

// RiskOf returns the risk of tasks that end delay after a deadline span away. The
// deadline delay of each is (delay + span)/span; it is +Inf past the deadline.
func RiskOf(delay, span []float64) Risk {
	n := float64(len(delay))
	sum, squares := 0.0, 0.0
	for i := range delay {
		if span[i] <= sharing.Tick {
			return Risk{math.Inf(1), math.Inf(1)}
		}
		sum += (delay[i] + span[i]) / span[i]
	}
	mean := sum / n
	for i := range delay {
		d := (delay[i]+span[i])/span[i] - mean
		squares += d * d
	}
	return Risk{mean, math.Sqrt(squares / n)}
}

// Zero reports whether there is no risk, to rounding. A single task is none,
// however late.
func (r Risk) Zero() bool { return r.Sigma <= 1e-9*max(1, r.Mean) }
