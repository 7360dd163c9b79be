// Package optimum computes U*, the highest total value that a planner who knows all jobs in
// advance could achieve ("Admission Control in a Computational Market", §4.2). Efficiency is
// measured relative to it.
//
// A job holds its nodes over the half-open interval from its arrival to its end. It therefore
// does not conflict with a job that arrives at its end, and a job without runtime holds
// nothing. Package packing chooses the jobs. If jobs may also run at other times or rates, this
// is not a bound; [Relax] computes a bound over all schedules. The package is independent of
// prices, policies and individual hosts.
package optimum

import (
	"bourse/market/packing"
	"bourse/workloadgen"
)

// Limits bound the effort of a [Solver].
type Limits = packing.Limits

// A Solution is the best plan that a [Solver] found.
type Solution = packing.Solution

// none means no job, and outside means no cell.
const (
	none    = -1
	outside = -1
)

// A Solver keeps its memory from one problem to the next. Its zero value is ready.
type Solver struct {
	packing packing.Solver
	items   []packing.Item
}

// Solve returns a plan as [Solver.Solve] does.
func Solve(jobs []workloadgen.Job, capacity, hosts int, limits Limits) Solution {
	return new(Solver).Solve(jobs, capacity, hosts, limits)
}

// Solve returns a plan for jobs, in any order, on capacity processors of the given number of
// hosts. A job with more nodes than hosts, or without value, is not chosen. Chosen is valid
// until the next call.
//
// Solve panics unless arrivals, ends and values are finite, runtimes at least 0,
// nodes at least 1 and capacity at least 0. Capacity beyond 2^30 counts as 2^30.
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
