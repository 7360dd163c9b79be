package contracts

import (
	"fmt"
	"math"
)

// GoesOn reports whether the work continues after the deadline.
func (s *SLA) GoesOn() bool { return s.Soft || s.RunsOn }

// Of returns the penalty that the provider owes for the given delay in seconds, in dollars.
// With Max = +Inf the penalty grows without bound, as in the SLA paper (eq. 1). For example, a
// rate of $0.01/s and a delay of 60 s give $0.60.
func (p Penalty) Of(delay float64) float64 {
	if delay <= 0 || p.Rate == 0 {
		return 0
	}
	return min(p.Rate*delay, p.Max)
}

// Validate returns an error for the first field whose value cannot be promised.
func (s SLA) Validate() error {
	switch {
	case s.Budget.Sign() <= 0:
		return fmt.Errorf("budget is %v, want more than 0", s.Budget)
	case !(finite(s.Deadline) && s.Deadline > 0):
		return fmt.Errorf("deadline is %v s, want more than 0", s.Deadline)
	case !(finite(s.Penalty.Rate) && s.Penalty.Rate >= 0):
		return fmt.Errorf("penalty rate is %v $/s, want 0 or more", s.Penalty.Rate)
	case math.IsNaN(s.Penalty.Max) || s.Penalty.Max < 0:
		return fmt.Errorf("maximum penalty is $%v, want 0 or more", s.Penalty.Max)
	}
	return nil
}
