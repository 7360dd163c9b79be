// Package optimum computes U*, the highest total value that a planner who knows all jobs in
// advance could achieve ("Admission Control in a Computational Market", §4.2). Efficiency
// is measured relative to U*.
//
// A job holds its nodes in the half-open interval from its arrival to its end. A job that
// arrives at the end of another job therefore does not conflict with it. A job with a runtime
// of 0 holds no nodes. Package packing selects the jobs. If jobs may run at other times or
// rates, U* is not an upper bound. [Relax] computes a bound over all schedules. The package is
// independent of prices, policies and individual hosts.
package optimum

import (
	"bourse/market/packing"
	"bourse/workloadgen"
)

// Limits limit the effort of a [Solver].
type Limits = packing.Limits

// A Solution is the best plan found by a [Solver].
type Solution = packing.Solution

// Values that stand for no job (none) and no cell (outside).
const (
	none    = -1
	outside = -1
)

// A Solver reuses its memory from one problem to the next. The zero value is ready to use.
type Solver struct {
	packing packing.Solver
	items   []packing.Item
}

// Solve returns a plan for jobs, which may be in any order. There are capacity processors
// on the given number of hosts. A job is not chosen if it has more nodes than there are
// hosts or if its value is 0. Chosen is valid until the next call.
//
// Solve panics unless arrivals, ends and values are finite, runtimes are at least 0, nodes
// are at least 1 and capacity is at least 0. Capacity beyond 2^30 counts as 2^30.
func (s *Solver) Solve(jobs []workloadgen.Job, capacity, hosts int, limits Limits) Solution {
	s.items = s.items[:0]
	for i := range jobs {
		j := &jobs[i]
		it := packing.Item{Value: j.Value, Units: j.Nodes, From: j.Arrival, To: j.Arrival + j.Runtime}
		if j.Nodes > hosts {
			it.Value = min(it.Value, 0)
		}
		s.items = append(s.items, it)
	}
	return s.packing.Solve(s.items, capacity, limits)
}
