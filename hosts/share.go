package hosts

import "math"

// Divide divides a host of cpus processors among tasks with the given shares. It writes the
// number of processors of each task to rates, in the same order; rates must be at least as
// long as shares. No task receives more than its own limit or more than limit. For both, 0
// means no limit.
//
// The division is proportional and work-conserving. Processors that a task at its limit cannot
// use go to the other tasks in proportion to their weights. This continues until the host is
// full or every task is at its limit. A task at its limit therefore receives exactly the limit,
// and every other task receives its weight times one common factor. The sum is the smaller of
// cpus and the sum of the limits, except for rounding. A task of weight 0 is paused: it
// receives nothing, even if processors are idle.
//
// For example, 8 processors are divided among three tasks of weight 1, one of which has a
// limit of 2. They receive 2, 3 and 3.
//
// A weight must be 0 or at least 1e-300, and the sum of weights must be finite. Divide
// allocates no memory. Divide takes time linear in the number of tasks for each round. Each
// group of tasks that reach their limits together requires one more round. Divide reports
// whether any task is at its limit.
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
	if float64(len(shares))*limit <= cpus { // every task can have its limit
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

	// Each round sets the rate of the tasks that reach their limit at the current factor. The
	// remaining tasks can then divide more processors than before, never fewer.
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

// Part returns the number of processors that a task receives on a host without a cap when
// every task receives its weight times factor. It also reports whether that is below the
// task's limit. For a paused task, which receives no processors, below is always true.
func (s *Share) Part(factor float64) (rate float64, below bool) {
	rate = s.Weight * factor
	return rate, s.Limit == 0 || rate < s.Limit
}

// own returns the maximum number of processors that a task may receive: the smaller of limit
// and its own limit, or 0 if it is paused.
func own(limit float64, s *Share) float64 {
	if s.Weight == 0 {
		return 0
	}
	if s.Limit > 0 && s.Limit < limit {
		return s.Limit
	}
	return limit
}

// Idle is the weight of a task that receives only the capacity that other tasks leave. It is
// negligible compared with any normal weight. Idle tasks share the remaining capacity equally,
// each up to its limit.
const Idle = 1e-200

// open marks a rate that has not been set yet.
const open = -1
