// Package optimum computes U*, the highest total value that a planner who knows all jobs in
// advance could achieve ("Admission Control in a Computational Market", §4.2). Efficiency is
// measured relative to it.
//
// It maximises the sum of v_j x_j over x_j in {0,1}, such that the chosen jobs that are active
// at the same time never need more processors than there are. A job holds its nodes over the
// half-open interval from its arrival to its end. It therefore does not conflict with a job
// that arrives at its end, and a job without runtime holds nothing. If jobs may also run at
// other times or rates, this is not a bound; [Relax] computes a bound over all schedules. The
// package is independent of prices, policies and individual hosts.
//
// # Design
//
// Only times at which the set of active jobs is maximal can bind (rows), and among these only
// the ones at which not all jobs would fit. Rows that no job connects are separate problems.
// Each is solved in three steps:
//
//   - The fractional problem is a flow: processors walk through time, past the
//     rows or along jobs. Its dual prices every row, and so every decision has a
//     loss, the part of the fractional value that it gives away. The losses of a
//     plan add up to the distance between its value and the fractional one. Prices
//     near the best do as well, and are what very large parts get (descent).
//   - A dynamic program visits the jobs by arrival. Its state is the set of chosen
//     jobs still active; of plans with the same state the one with the smallest
//     loss survives, and none whose loss reaches that of the best plan known. A
//     narrow run finds a good plan, wider ones prove or improve it.
//   - Between wide runs, the loss that no plan avoids in each stretch of rows,
//     taken by itself, tightens both the pruning and the bound.
//
// Branch and bound over the same fractional problem would solve it again at each
// of its nodes, and meet the same state many times.
package optimum

import (
	"cmp"
	"math"
	"slices"

	"bourse/workloadgen"
)

// Limits bound the effort, never by time: equal input gives equal output.
type Limits struct {
	// Width is the most states kept at once, 0 for 16,384. Large plans do not get
	// there: no run is begun that could pass 25 million states visited in all, except the
	// first, of 32.
	Width int
}

// A Solution is the best plan found.
type Solution struct {
	Value  float64 // of the chosen jobs
	Chosen []bool  // one per job, in the order given

	// Bound is at least the value of every plan. Proven reports that it is Value:
	// no plan is better, but for rounding (1e-12 of it).
	Bound  float64
	Proven bool

	States int // visited: the effort
}

// Solve returns a plan as [Solver.Solve] does.
func Solve(jobs []workloadgen.Job, capacity, hosts int, limits Limits) Solution {
	return new(Solver).Solve(jobs, capacity, hosts, limits)
}

// A Solver keeps its memory from one problem to the next: after the largest it
// allocates nothing. Its zero value is ready.
type Solver struct {
	capacity int32
	chosen   []bool
	items    []item

	rows    rows
	part    part
	flow    flow
	descent descent
	program program
}

// An item is a job that competes with others.
type item struct {
	job          int32 // position among the caller's jobs
	nodes        int32
	first, last  int32 // rows at which it is active
	arrival, end float64
	value        float64
	gain         float64 // value less the price of its rows
}

const (
	defaultWidth = 1 << 14
	mostStates   = 3 << 23
	mostCapacity = 1 << 30 // twice of it fits an int32
)

// Solve returns a plan for jobs, in any order, on capacity processors of so many
// hosts. A job with more nodes than hosts, or without value, is not chosen.
// Chosen is valid until the next call.
//
// Solve panics unless arrivals, ends and values are finite, runtimes at least 0,
// nodes at least 1 and capacity at least 0. Capacity beyond 2^30 counts as 2^30.
func (s *Solver) Solve(jobs []workloadgen.Job, capacity, hosts int, limits Limits) Solution {
	if capacity < 0 {
		panic("optimum: negative capacity")
	}
	s.capacity = int32(min(capacity, mostCapacity))
	s.chosen = zeroed(s.chosen, len(jobs))
	s.admit(jobs, hosts)
	s.items = s.rows.build(s.items, s.capacity, s.chosen)

	width := limits.Width
	if width <= 0 {
		width = defaultWidth
	}
	s.program.visited = 0
	var gap float64
	for rest := s.items; len(rest) > 0; {
		n := s.part.cut(rest)
		gap += s.solve(width, mostStates/len(s.items)*n)
		rest = rest[n:]
	}

	sol := Solution{Chosen: s.chosen, States: s.program.visited, Proven: gap == 0}
	for i, yes := range s.chosen {
		if yes {
			sol.Value += jobs[i].Value
		}
	}
	sol.Bound = sol.Value + gap
	return sol
}

// admit takes the jobs that may or may not be chosen, by arrival.
func (s *Solver) admit(jobs []workloadgen.Job, hosts int) {
	s.items = s.items[:0]
	for i := range jobs {
		j := &jobs[i]
		end := j.Arrival + j.Runtime
		if !finite(j.Arrival) || !finite(end) || !finite(j.Value) || j.Runtime < 0 || j.Nodes < 1 {
			panic("optimum: a job's numbers are out of range")
		}
		switch {
		case j.Value <= 0 || j.Nodes > hosts:
		case end <= j.Arrival:
			s.chosen[i] = true
		case j.Nodes <= int(s.capacity):
			s.items = append(s.items, item{job: int32(i), nodes: int32(j.Nodes), arrival: j.Arrival, end: end, value: j.Value})
		}
	}
	slices.SortFunc(s.items, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.arrival, b.arrival), cmp.Compare(a.job, b.job))
	})
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
