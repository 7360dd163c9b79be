package sim

import (
	"fmt"
	"math"

	"bourse/hosts/eventheap"
)

// An Engine runs whole workloads on bare hosts: every job starts on arrival,
// has a task on each of its hosts, and ends when all of them have done their
// work. There are no deadlines and there is no admission.
//
// An engine keeps its memory from run to run: a second run of a workload
// allocates nothing. The zero value is ready.
type Engine struct {
	hosts []host
	left  []int32 // by job: tasks that still run
	end   []float64
	order []int32
	next  eventheap.Tournament // of hosts, by their next completion
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
	p, err := e.reset(w, capacity, limit)
	if err != nil {
		return Result{}, err
	}
	for j := range w.Jobs {
		job := &w.Jobs[j]
		at := newRoute(j, w.Hosts)
		for range job.Nodes {
			h := &e.hosts[at.next()]
			for h.next <= job.Arrival {
				e.finish(h, &p)
			}
			h.start(&p, job, int32(j))
		}
	}
	for i := range e.hosts {
		for h := &e.hosts[i]; h.next < math.Inf(1); {
			e.finish(h, &p)
		}
	}
	return e.result(w), nil
}

// RunInOrder does what Run does and gives the same results to the last bit, but
// completes tasks in the order of their instants, whatever their host, ties in
// order of hosts. It also reports the order in which jobs complete.
func (e *Engine) RunInOrder(w *Workload, capacity, limit float64) (Result, error) {
	p, err := e.reset(w, capacity, limit)
	if err != nil {
		return Result{}, err
	}
	e.next.Reset(w.Hosts)
	if cap(e.order) < len(w.Jobs) {
		e.order = make([]int32, 0, len(w.Jobs))
	}
	for j := range w.Jobs {
		job := &w.Jobs[j]
		e.finishUntil(job.Arrival, &p)
		at := newRoute(j, w.Hosts)
		for range job.Nodes {
			i := at.next()
			h := &e.hosts[i]
			h.start(&p, job, int32(j))
			e.next.Set(int32(i), h.next)
		}
	}
	e.finishUntil(math.MaxFloat64, &p)
	return e.result(w), nil
}

// finishUntil completes, in order, every task that is due by at.
func (e *Engine) finishUntil(at float64, p *division) {
	for {
		i, next := e.next.Min()
		if next > at {
			return
		}
		h := &e.hosts[i]
		if job := e.finish(h, p); e.left[job] == 0 {
			e.order = append(e.order, job)
		}
		e.next.Set(i, h.next)
	}
}

// finish completes the host's next task and returns its job.
func (e *Engine) finish(h *host, p *division) int32 {
	job := h.complete(p)
	e.left[job]--
	e.end[job] = max(e.end[job], h.clock)
	return job
}

func (e *Engine) reset(w *Workload, capacity, limit float64) (division, error) {
	if !(capacity > 0 && capacity <= math.MaxFloat64) {
		return division{}, fmt.Errorf("hosts/sim: capacity %v, want more than 0 processors", capacity)
	}
	if !(limit >= 0 && limit <= math.MaxFloat64) {
		return division{}, fmt.Errorf("hosts/sim: limit %v, want at least 0 processors", limit)
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
	return division{capacity, limit}, nil
}

// resetHosts makes n idle hosts. The first tasks of all of them share two
// blocks of memory; a host that needs more gets its own.
func (e *Engine) resetHosts(n int, capacity, limit float64) {
	if cap(e.hosts) >= n {
		e.hosts = e.hosts[:n]
		for i := range e.hosts {
			e.hosts[i].reset()
		}
		return
	}
	const queued = 6
	capped := 0
	if limit > 0 {
		capped = 1 + int(min(capacity/limit, 4))
	}
	block := make([]vtask, n*(queued+capped))
	e.hosts = make([]host, n)
	for i := range e.hosts {
		h := &e.hosts[i]
		h.queue.tasks, block = block[:0:queued], block[queued:]
		h.capped, block = block[:0:capped], block[capped:]
		h.reset()
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
