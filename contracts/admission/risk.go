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

// DeadlineDelay returns the delay of a task against the time that it has left, 1 if it is
// in time (eq. 4). A task to which no instant is promised always is.
func DeadlineDelay(delay, span float64) float64 {
	if math.IsInf(span, 1) {
		return 1
	}
	return (delay + span) / span
}

// RiskOf returns the risk of tasks that end delay after a deadline span away (eq. 5 and
// 6). It is +Inf past a deadline.
func RiskOf(delay, span []float64) Risk {
	n := float64(len(delay))
	sum, squares := 0.0, 0.0
	for i := range delay {
		if span[i] <= sharing.Tick {
			return Risk{math.Inf(1), math.Inf(1)}
		}
		sum += DeadlineDelay(delay[i], span[i])
	}
	mean := sum / n
	for i := range delay {
		d := DeadlineDelay(delay[i], span[i]) - mean
		squares += d * d
	}
	return Risk{mean, math.Sqrt(squares / n)}
}

// Zero reports whether there is no risk, to rounding. A single task is none,
// however late.
func (r Risk) Zero() bool { return r.Sigma <= 1e-9*max(1, r.Mean) }
