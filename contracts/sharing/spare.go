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
	Proportional Spare = "proportional" // the tasks receive them in proportion to their needs
	Equal        Spare = "equal"        // the tasks receive them in equal parts
)

// Split appends to out the share of n that each task receives, given the number of processors
// that each task requires. If the sum of the requirements exceeds n, Split divides n in
// proportion to them. A requirement of +Inf counts as the maximum that one task can use. If no
// task requires any processors, all tasks receive equal shares.
//
// For example, with needs of 1 and 2 on 4 processors, one processor is spare. The tasks
// receive 1 and 2 ([Unused]), 1.33 and 2.67 ([Proportional]), or 1.5 and 2.5 ([Equal]).
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

// bound returns need, or the maximum that one task can use if need is +Inf.
func (n Node) bound(need float64) float64 {
	if math.IsInf(need, 1) {
		return n.Most
	}
	return need
}
