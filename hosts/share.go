package hosts

import "math"

// Divide divides a host of cpus processors among tasks with these shares and
// writes what each gets, in processors and in the same order, to rates, which
// is at least as long. No task gets more than its limit, nor more than limit;
// 0 is no limit, for either.
//
// The division is proportional and work-conserving: what a task at its limit
// cannot use goes to the others in proportion to their weights, until the host
// is full or every task is at its limit. So a task at its limit gets exactly
// that, the others get weight times one common factor, and the sum is the less
// of cpus and the sum of limits, to rounding. A task of weight 0 is paused: it
// gets nothing, even where processors are left over.
//
// A weight is 0 or at least 1e-300, and the sum of weights is finite. Nothing is
// allocated. The time is linear in the number of tasks, once more for each group
// of them that reaches its limits together. Divide reports whether some task is at its
// limit.
func Divide(cpus, limit float64, shares []Share, rates []float64) (limited bool) {
	rates = rates[:len(shares)]
	if limit == 0 {
		limit = math.Inf(1)
	}
	if len(shares) == 1 {
		most := own(limit, &shares[0])
		rates[0] = min(cpus, most)
		return most <= cpus && most > 0
	}
	if float64(len(shares))*limit <= cpus { // room for all
		for i := range shares {
			rates[i] = own(limit, &shares[i])
			limited = limited || rates[i] > 0
		}
		return limited
	}
	weight := 0.0
	for i := range shares {
		rates[i] = 0
		if w := shares[i].Weight; w > 0 {
			weight += w
			rates[i] = open
		}
	}

	// Each round gives the tasks that reach their limit at the present factor
	// that limit. The rest then have more to divide, never less.
	for weight > 0 {
		factor := cpus / weight
		settled := false
		weight = 0
		for i := range shares {
			if rates[i] != open {
				continue
			}
			if w, most := shares[i].Weight, own(limit, &shares[i]); w*factor < most {
				weight += w
			} else {
				rates[i] = most
				cpus -= most
				settled = true
			}
		}
		if !settled {
			for i := range shares {
				if rates[i] == open {
					rates[i] = shares[i].Weight * factor
				}
			}
			return limited
		}
		cpus, limited = max(cpus, 0), true
	}
	return limited
}

// Part returns what a task gets on a host without a cap on which all get weight times
// factor, in processors, and whether that is below its limit. A paused task, which gets
// nothing, always is.
func (s *Share) Part(factor float64) (rate float64, below bool) {
	rate = s.Weight * factor
	return rate, s.Limit == 0 || rate < s.Limit
}

// own returns the most that a task may have: its limit or the other, or nothing if it
// is paused.
func own(limit float64, s *Share) float64 {
	if s.Weight == 0 {
		return 0
	}
	if s.Limit > 0 && s.Limit < limit {
		return s.Limit
	}
	return limit
}

// Idle is the weight of a task that gets only what the others leave: next to any weight of
// theirs it counts for nothing. Idle tasks share equally what is left, each up to its limit.
const Idle = 1e-200

// open marks a rate that is not settled yet.
const open = -1
