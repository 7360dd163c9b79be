package sharing

import (
	"math"

	"bourse/hosts"
)

// A Spare is a rule for the processors that no task needs.
type Spare string

// Rules for spare processors.
const (
	Unused       Spare = "none"         // they remain idle
	Proportional Spare = "proportional" // the tasks get them in proportion to their needs
	Equal        Spare = "equal"        // the tasks get them in equal parts
)

// Split appends to out the share of n that each task gets, given the processors that each
// requires. If the sum exceeds n, it divides n in proportion to the needs. A task that requires
// +Inf counts as requiring the most that one task can use. If no task requires anything, all
// get equal shares.
//
// For example, on 4 processors with needs of 1 and 2, one is spare: the tasks get 1 and 2
// ([Unused]), 1.33 and 2.67 ([Proportional]), or 1.5 and 2.5 ([Equal]).
func (n Node) Split(spare Spare, required []float64, out []hosts.Share) []hosts.Share {
	sum := 0.0
	for _, need := range required {
		sum += n.bound(need)
	}
	for _, need := range required {
		need = n.bound(need)
		s := hosts.Share{Weight: need}
		switch {
		case sum == 0:
			s.Weight = 1
		case sum > n.Size || spare == Proportional:
		case spare == Unused:
			s.Limit = need
		case spare == Equal:
			s.Weight += (n.Size - sum) / float64(len(required))
		}
		out = append(out, s)
	}
	return out
}

// bound returns need, or the most that one task can use if need is +Inf.
func (n Node) bound(need float64) float64 {
	if math.IsInf(need, 1) {
		return n.Most
	}
	return need
}
