package libra

import (
	"math"

	"bourse/contracts/sharing"
)

// A Risk measures how unequally the tasks on a host are delayed, relative to their remaining
// time (Risk, eq. 4 to 6).
type Risk struct {
	Mean  float64 // μ, the mean deadline delay
	Sigma float64 // standard deviation of the deadline delays
}

// DeadlineDelay returns the deadline delay of a task (eq. 4): (delay + span)/span, where span
// is the time left until the deadline. It is 1 for a task in time. For example, a task that is
// 50 s late with 100 s left has a deadline delay of 1.5. A task without a promised time is
// always in time.
func DeadlineDelay(delay, span float64) float64 {
	if math.IsInf(span, 1) {
		return 1
	}
	return (delay + span) / span
}

// RiskOf returns the risk of tasks (eq. 5 and 6). Task i ends delay[i] seconds after a
// deadline that is span[i] seconds away. The risk is +Inf if a deadline has passed.
func RiskOf(delay, span []float64) Risk {
	// Compute the mean of the deadline delays (eq. 5), then their standard deviation (eq. 6).
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

// Zero reports whether there is no risk, except for rounding. A single task has no risk, even
// if it is late, because its delay cannot differ from other delays.
func (r Risk) Zero() bool { return r.Sigma <= zero*max(1, r.Mean) }

// zero is the relative standard deviation that is treated as rounding.
const zero = 1e-9
