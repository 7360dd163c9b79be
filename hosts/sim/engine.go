package sim

import (
	"fmt"
	"math"

	"bourse/hosts"
	"bourse/hosts/eventheap"
)

// An Engine runs whole workloads on bare hosts, each a [Machine] as a market has it:
// every job starts on arrival, has a task on each of its hosts, and ends when all of
// them have done their work. There are no deadlines and there is no admission.
//
// An engine keeps its memory from run to run: a second run of a workload
// allocates nothing. The zero value is ready.
type Engine struct {
	machines []Machine
	reports  []hosts.Report
	left     []int32 // by job: tasks that still run
	end      []float64
	order    []int32
	next     eventheap.Heap // of hosts, by their next completion
}

// A Result is what became of a workload. Its slices are the engine's, until
// the next run.
type Result struct {
	End    []float64 // by job: when it completed
	Order  []int32   // jobs in order of completion, if it was asked for
	Events int64     // arrivals of jobs and completions of tasks
}

// Run runs w on hosts of capacity processors each, at most limit of them for a
// task; a limit of 0 is none. As nobody observes the order of completions, a
// host stands still until a job arrives on it, then catches up.
//
// Run returns an error if capacity or limit is negative or not finite, or
// capacity is 0.
func (e *Engine) Run(w *Workload, capacity, limit float64) (Result, error) {
	if err := e.reset(w, capacity, limit); err != nil {
		return Result{}, err
	}
	for j := range w.Jobs {
		job := &w.Jobs[j]
		at := newRoute(j, w.Hosts)
		for range job.Nodes {
			m := &e.machines[at.next()]
			e.finish(m, job.Arrival)
			m.start(job, int64(j))
		}
	}
	for i := range e.machines {
		e.finish(&e.machines[i], math.MaxFloat64)
	}
	return e.result(w), nil
}

// RunInOrder does what Run does and gives the same results to the last bit, but
// completes tasks in the order of their instants, whatever their host, ties in
// order of hosts. It also reports the order in which jobs complete.
func (e *Engine) RunInOrder(w *Workload, capacity, limit float64) (Result, error) {
	if err := e.reset(w, capacity, limit); err != nil {
		return Result{}, err
	}
	e.next.Grow(w.Hosts)
	e.next.Reset()
	if cap(e.order) < len(w.Jobs) {
		e.order = make([]int32, 0, len(w.Jobs))
	}
	for j := range w.Jobs {
		job := &w.Jobs[j]
		e.finishUntil(job.Arrival)
		at := newRoute(j, w.Hosts)
		for range job.Nodes {
			i := at.next()
			m := &e.machines[i]
			m.start(job, int64(j))
			e.next.Set(int32(i), m.Next())
		}
	}
	e.finishUntil(math.MaxFloat64)
	return e.result(w), nil
}

// finishUntil completes, in order, every task that is due by at.
func (e *Engine) finishUntil(at float64) {
	for {
		i, next, ok := e.next.Min()
		if !ok || next > at {
			return
		}
		m := &e.machines[i]
		e.reports = m.Advance(next, e.reports[:0])
		for k := range e.reports {
			if j := e.count(&e.reports[k]); e.left[j] == 0 {
				e.order = append(e.order, j)
			}
		}
		e.next.Set(i, m.Next())
	}
}

// finish completes the tasks of m that are due by at.
func (e *Engine) finish(m *Machine, at float64) {
	for {
		next := m.Next()
		if next > at {
			return
		}
		e.reports = m.Advance(next, e.reports[:0])
		for k := range e.reports {
			e.count(&e.reports[k])
		}
	}
}

// count notes that a task has completed and returns its job.
func (e *Engine) count(r *hosts.Report) int32 {
	j := int32(r.Key)
	e.left[j]--
	e.end[j] = max(e.end[j], r.At)
	return j
}

// start begins a task of job on its arrival.
func (m *Machine) start(job *Job, number int64) {
	m.advance(job.Arrival)
	m.add(number, job.Work, hosts.Share{Weight: float64(job.Rate)})
}

func (e *Engine) reset(w *Workload, capacity, limit float64) error {
	if !(capacity > 0) || math.IsInf(capacity, 1) {
		return fmt.Errorf("hosts/sim: capacity %v, want more than 0 processors", capacity)
	}
	if !(limit >= 0) || math.IsInf(limit, 1) {
		return fmt.Errorf("hosts/sim: limit %v, want at least 0 processors", limit)
	}
	e.resetHosts(w.Hosts, capacity, limit)
	if cap(e.left) < len(w.Jobs) {
		e.left = make([]int32, len(w.Jobs))
		e.end = make([]float64, len(w.Jobs))
	}
	e.left, e.end, e.order = e.left[:len(w.Jobs)], e.end[:len(w.Jobs)], e.order[:0]
	clear(e.end)
	for j := range w.Jobs {
		e.left[j] = w.Jobs[j].Nodes
	}
	return nil
}

// A first is memory for the first tasks of a host, all of it side by side.
type first struct {
	tasks  [some]task
	shares [some]hosts.Share
	rates  [some]float64
	place  [some]int32
}

const some = 8

// resetHosts makes n idle hosts. The first tasks of all of them share one block of
// memory, in order of hosts; a host that needs more gets its own.
func (e *Engine) resetHosts(n int, capacity, limit float64) {
	if cap(e.machines) < n {
		e.machines = make([]Machine, n)
		few := make([]first, n)
		for i := range e.machines {
			m := &e.machines[i]
			m.tasks, m.shares, m.rates, m.place = few[i].tasks[:0], few[i].shares[:0], few[i].rates[:0], few[i].place[:0]
		}
	}
	e.machines = e.machines[:n]
	spec := hosts.Spec{CPUs: capacity, Speed: 1, Cap: limit}
	for i := range e.machines {
		e.machines[i].Reset(spec)
	}
}

func (e *Engine) result(w *Workload) Result {
	r := Result{End: e.end, Order: e.order, Events: int64(len(w.Jobs))}
	for j := range w.Jobs {
		r.Events += int64(w.Jobs[j].Nodes)
	}
	return r
}

// A route names the hosts of a job, one after another: host k of job j is
// (j*7919 + k*104729) mod H.
type route struct{ at, step, hosts int }

func newRoute(job, hosts int) route {
	return route{job * 7919 % hosts, 104729 % hosts, hosts}
}

func (r *route) next() int {
	at := r.at
	if r.at += r.step; r.at >= r.hosts {
		r.at -= r.hosts
	}
	return at
}
