package optimum_test

import (
	"cmp"
	"slices"

	"bourse/workloadgen"
)

// bruteForce tries every subset of the jobs. It checks the capacity at every arrival.
func bruteForce(jobs []workloadgen.Job, capacity, hosts int) (best float64) {
	for set := range uint64(1) << len(jobs) {
		var value float64
		for j := range jobs {
			if set>>j&1 == 1 {
				value += jobs[j].Value
			}
		}
		if value > best && feasible(jobs, func(j int) bool { return set>>j&1 == 1 }, capacity, hosts) {
			best = value
		}
	}
	return best
}

// feasible checks the chosen jobs at every arrival.
func feasible(jobs []workloadgen.Job, chosen func(int) bool, capacity, hosts int) bool {
	for i, at := range jobs {
		if !chosen(i) {
			continue
		}
		used := 0
		for j, o := range jobs {
			if chosen(j) && o.Arrival <= at.Arrival && at.Arrival < o.Arrival+o.Runtime {
				used += o.Nodes
			}
		}
		if used > capacity || at.Nodes > hosts {
			return false
		}
	}
	return true
}

// plain returns the optimum by a dynamic program without rows, prices or pruning. It computes
// the best value for every set of active jobs, arrival by arrival. At most 64 jobs may be
// active at the same time.
func plain(jobs []workloadgen.Job, capacity, hosts int) (best float64) {
	jobs = slices.Clone(jobs)
	slices.SortStableFunc(jobs, func(a, b workloadgen.Job) int { return cmp.Compare(a.Arrival, b.Arrival) })
	type active struct {
		set  uint64
		used int
	}
	values := map[active]float64{{}: 0}
	var holders [64]int // 1 + index of the job that each bit stands for
	for j, job := range jobs {
		bit := -1
		var over uint64
		for b, h := range holders {
			if h > 0 && jobs[h-1].Arrival+jobs[h-1].Runtime <= job.Arrival {
				over |= 1 << b
				holders[b] = 0
			}
		}
		if over != 0 {
			before := values
			values = map[active]float64{}
			for a, v := range before {
				left := active{set: a.set &^ over, used: 0}
				for b, h := range holders {
					if left.set>>b&1 == 1 {
						left.used += jobs[h-1].Nodes
					}
				}
				values[left] = max(values[left], v)
			}
		}
		for b, h := range holders {
			if h == 0 {
				bit = b
				break
			}
		}
		holders[bit] = j + 1
		for a, v := range values {
			if a.set>>bit&1 == 1 {
				continue // this loop has added the set
			}
			if with := a.used + job.Nodes; with <= capacity && job.Nodes <= hosts && job.Runtime > 0 {
				values[active{a.set | 1<<bit, with}] = v + job.Value
			} else if job.Runtime == 0 && job.Nodes <= hosts {
				values[a] = v + job.Value
			}
		}
	}
	for _, v := range values {
		best = max(best, v)
	}
	return best
}

// branchAndBound decides one job after another in the given order. It backtracks if even
// all remaining jobs would not be enough.
func branchAndBound(jobs []workloadgen.Job, capacity, hosts int) (best float64) {
	left := make([]float64, len(jobs)+1)
	for j := len(jobs) - 1; j >= 0; j-- {
		left[j] = left[j+1] + jobs[j].Value
	}
	chosen := make([]bool, len(jobs))
	var decide func(j int, value float64)
	decide = func(j int, value float64) {
		best = max(best, value)
		if j == len(jobs) || value+left[j] <= best {
			return
		}
		chosen[j] = true
		if feasible(jobs[:j+1], func(i int) bool { return chosen[i] }, capacity, hosts) {
			decide(j+1, value+jobs[j].Value)
		}
		chosen[j] = false
		decide(j+1, value)
	}
	decide(0, 0)
	return best
}
