package optimum

import (
	"cmp"
	"math"
	"slices"
)

// A Window is a job that may run at any time between two times, with interruptions and at
// any rate up to a maximum.
type Window struct {
	Opens, Closes float64 // times in seconds; Closes may be +Inf
	Work          float64 // work needed
	Rate          float64 // maximum work per second of all nodes together
	Value         float64 // $
}

// Bounds are upper bounds on the total value of a set of windows. They are valid for all
// schedules that do the work of each job inside its window, including preemptive and divisible
// schedules.
type Bounds struct {
	Parts float64 // bound if a part of a job's work has the corresponding part of the value
	Whole float64 // bound if a part of a job's work has no value; at most Parts
	Exact bool    // whether some schedule on one host with this capacity reaches Whole

	Chosen  []bool  // for each window, whether it belongs to a schedule that completes all chosen jobs
	Reached float64 // total value of the chosen windows
	Effort  int     // effort spent, in visited edges
}

// These limits on effort count visited edges: per edge for a greedy flow, and in total for the
// search. The last one is the maximum number of edges.
const (
	perEdge    = 16
	searchable = 1 << 20
	mostEdges  = 1 << 21
)

// Relax returns bounds for windows, which may be in any order. The fleet does capacity work
// per second. It treats the fleet as a single host. In reality, the nodes of a job are on
// distinct hosts. This affects only the Rate of the job, so no real schedule is excluded.
//
// The times at which windows open and close divide time into cells. The work that a set of
// jobs can do in its cells is a submodular function of the set, because it is a flow from jobs
// through cells. The work vectors therefore form a polymatroid. The linear program is solved
// by serving jobs in descending order of value per work. Each job does as much work as
// possible in addition to earlier jobs. In the dual solution, the price of a cell is set by
// the job that found the cell full. Any prices result in a valid bound. Parts is the value of
// the dual problem, so it is valid regardless of rounding errors in the flow. If there are
// many windows, the cells are wider, which makes the bound less tight but still valid. Whole
// is found by branch and bound with the same program. The search stops after a fixed effort.
// The result is then the highest bound among the open nodes.
func Relax(windows []Window, capacity float64) (b Bounds) {
	b.Chosen = make([]bool, len(windows))
	free, all, elastic, inelastic := 0.0, 0.0, []int32(nil), []int32(nil)
	for i := range windows {
		w := &windows[i]
		switch length := w.Closes - w.Opens; {
		case !(w.Value > 0):
		case w.Work <= 0 || math.IsInf(w.Closes, 1) && w.Rate > 0 && capacity > 0:
			free += w.Value
			b.Chosen[i] = true
		case !(length > 0) || w.Rate <= 0 || capacity <= 0:
		default:
			all += w.Value
			elastic = append(elastic, int32(i))
			if min(w.Rate, capacity)*length >= w.Work*(1-tiny) {
				inelastic = append(inelastic, int32(i))
			}
		}
	}
	f := flowOf(windows, elastic, capacity, &b.Effort)
	parts, whole := f.bounds()
	if len(inelastic) < len(elastic) {
		f = flowOf(windows, inelastic, capacity, &b.Effort)
		_, whole = f.bounds()
	}
	s := search{fluid: f}
	bound := s.run()
	for i, j := range f.jobs {
		b.Chosen[j.window] = s.best.chosen[i]
	}
	b.Effort += s.spent
	b.Reached = free + s.best.value
	b.Exact = bound <= s.best.value*(1+tiny)
	b.Parts = free + min(parts, all)
	b.Whole = min(free+min(whole, bound), b.Parts)
	return b
}

// tiny is the relative error of sums.
const tiny = 1e-9

// flowOf returns the greedy flow of the windows listed in some. Its cells are as narrow as the
// limit on effort allows.
func flowOf(windows []Window, some []int32, capacity float64, effort *int) *fluid {
	f := newFluid(windows, some)
	for stride := 1; ; stride *= 4 {
		if !f.divide(stride, capacity) {
			continue
		}
		limit := perEdge*len(f.done) + searchable
		if len(f.room) <= 1 {
			limit = math.MaxInt
		}
		f.visits = limit
		ok := f.serve(nil)
		*effort += limit - f.visits
		if ok {
			return f
		}
	}
}

// newFluid returns a fluid with the windows that compete with other windows, in descending
// order of value per work.
func newFluid(windows []Window, some []int32) *fluid {
	f := new(fluid)
	f.jobs = make([]fluidJob, len(some))
	for k, i := range some {
		w := &windows[i]
		f.jobs[k] = fluidJob{Window: *w, window: i, density: w.Value / w.Work}
	}
	slices.SortFunc(f.jobs, func(a, b fluidJob) int {
		return cmp.Or(cmp.Compare(b.density, a.density), cmp.Compare(a.Closes, b.Closes), cmp.Compare(a.Opens, b.Opens),
			cmp.Compare(a.Work, b.Work), cmp.Compare(a.Rate, b.Rate), cmp.Compare(a.window, b.window))
	})
	for _, j := range f.jobs {
		f.instants = append(f.instants, j.Opens, j.Closes)
	}
	slices.Sort(f.instants)
	f.instants = slices.Compact(f.instants)
	return f
}
