// Package engine runs whole workloads on very many simulated hosts, without a market.
//
// It uses the hosts of package sim, as the market does. The package is independent of prices,
// contracts and users.
package engine

import (
	"fmt"
	"math"

	"bourse/hosts"
	"bourse/hosts/eventheap"
	"bourse/hosts/sim"
)

// An Engine runs whole workloads, in which each host is a [sim.Machine]. Every job starts on
// arrival, has one task on each of its hosts, and ends when all its tasks have done their work.
// There are no deadlines and no admission.
//
// An engine reuses its memory between runs: a second run of the same workload allocates
// nothing. The zero value is ready to use.
type Engine struct {
	machines []sim.Machine
	reports  []hosts.Report
	left     []int32 // number of tasks still running, by job
	end      []float64
	order    []int32
	next     eventheap.Heap // hosts by their next completion
}

// A Result is the outcome of a workload. Its slices belong to the engine and are valid until
// the next run.
type Result struct {
	End    []float64 // time of completion, by job
	Order  []int32   // jobs in order of completion; set only by RunInOrder
	Events int64     // arrivals of jobs and completions of tasks
}

// Run runs w on hosts of capacity processors each. A task uses at most limit processors; a
// limit of 0 means no limit. Run does not report the order of completions, so it advances a
// host only when a job arrives on it or the run ends.
//
// Run returns an error if capacity or limit is negative or not finite, or if capacity is 0.
func (e *Engine) Run(w *Workload, capacity, limit float64) (Result, error) {
	if err := e.reset(w, capacity, limit); err != nil {
		return Result{}, err
	}
	// Jobs are in order of arrival, so each host sees its events in order of time.
	for j := range w.Jobs {
		job := &w.Jobs[j]
		at := newRoute(j, w.Hosts)
		for range job.Nodes {
			m := &e.machines[at.next()]
			// First complete the tasks of this host that are due by the arrival, and count
			// them.
			e.finish(m, job.Arrival)
			start(m, job, int64(j))
		}
	}
	// No further jobs arrive: run every host until its last task has completed.
	for i := range e.machines {
		e.finish(&e.machines[i], math.MaxFloat64)
	}
	return e.result(w), nil
}

// RunInOrder gives the same results as Run, bit for bit, but completes tasks in order of time
// across all hosts. Ties are in order of hosts. It also reports the order in which jobs
// complete.
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
		// Complete all tasks due before the arrival, on every host, in order of time.
		e.finishUntil(job.Arrival)
		at := newRoute(j, w.Hosts)
		for range job.Nodes {
			i := at.next()
			m := &e.machines[i]
			start(m, job, int64(j))
			e.next.Set(int32(i), m.Next())
		}
	}
	e.finishUntil(math.MaxFloat64)
	return e.result(w), nil
}

// finishUntil completes all tasks that are due by the time at, in order.
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

// finish completes the tasks of m that are due by the time at.
func (e *Engine) finish(m *sim.Machine, at float64) {
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

// count records the completion of a task and returns its job.
func (e *Engine) count(r *hosts.Report) int32 {
	j := int32(r.Key)
	e.left[j]--
	e.end[j] = max(e.end[j], r.At)
	return j
}

// start starts a task of job on m at the job's arrival. The start cannot fail, because the task
// reserves no resources.
func start(m *sim.Machine, job *Job, number int64) {
	_, _ = m.Start(job.Arrival, hosts.Task{Key: number, Work: job.Work}, hosts.Share{Weight: float64(job.Rate)})
}

// reset prepares the engine for a run of w, or returns an error if capacity or limit is out of
// range.
func (e *Engine) reset(w *Workload, capacity, limit float64) error {
	if !(capacity > 0) || math.IsInf(capacity, 1) {
		return fmt.Errorf("hosts/engine: capacity %v, want more than 0 processors", capacity)
	}
	if !(limit >= 0) || math.IsInf(limit, 1) {
		return fmt.Errorf("hosts/engine: limit %v, want at least 0 processors", limit)
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

// resetHosts makes the engine's machines n idle hosts.
func (e *Engine) resetHosts(n int, capacity, limit float64) {
	if cap(e.machines) < n {
		e.machines = make([]sim.Machine, n)
	}
	e.machines = e.machines[:n]
	spec := hosts.Spec{CPUs: capacity, Speed: 1, Cap: limit}
	for i := range e.machines {
		e.machines[i].Reset(spec)
	}
}

// result returns the results of the run that has ended.
func (e *Engine) result(w *Workload) Result {
	r := Result{End: e.end, Order: e.order, Events: int64(len(w.Jobs))}
	for j := range w.Jobs {
		r.Events += int64(w.Jobs[j].Nodes)
	}
	return r
}

// A route lists the hosts of a job: host k of job j is (j*7919 + k*104729) mod H. The formula
// spreads jobs over all hosts without random numbers, so other programs can reproduce it.
type route struct{ at, step, hosts int }

// newRoute returns the route of a job on a fleet of the given number of hosts.
func newRoute(job, hosts int) route {
	return route{job * 7919 % hosts, 104729 % hosts, hosts}
}

// next returns the next host of the job.
func (r *route) next() int {
	at := r.at
	if r.at += r.step; r.at >= r.hosts {
		r.at -= r.hosts
	}
	return at
}
