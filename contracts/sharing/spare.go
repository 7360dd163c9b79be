package sharing

import (
	"math"

	"bourse/hosts"
)

// A Spare is what becomes of the processors that no task needs.
type Spare string

// Uses of what is spare.
const (
	Unused       Spare = "none"         // they stand idle
	Proportional Spare = "proportional" // they go to the tasks in proportion to their needs
	Equal        Spare = "equal"        // they go to the tasks in equal parts
)

// Split appends to out what share of n each task is to have, given what each
// requires. Beyond its size, n is divided in proportion to the needs. A task that
// requires +Inf asks for as much as it can use; tasks that all require nothing
// have equal parts.
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

// bound returns the need of a task, or what it can use if it is +Inf.
func (n Node) bound(need float64) float64 {
	if math.IsInf(need, 1) {
		return n.Most
	}
	return need
}
