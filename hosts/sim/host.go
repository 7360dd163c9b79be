package sim

import "math"

// A host shares its processors among its tasks in proportion to their rates, no
// task above a limit.
//
// # Design
//
// Tasks below the limit live in virtual time V, the work done for each unit of
// rate: dV/dt = free / price, where free are the processors that the capped
// tasks leave and price is the sum of the others' rates. A task's key, V at its
// start plus work over rate, stays while it runs; arrival and completion are a
// push and a pop, and no other task is touched.
//
// Capped tasks work at a constant rate in real time and keep the work that is
// left. They are the heaviest, and at most as many as limits fit in the
// capacity: on a host of two processors, two.
//
// Both clocks, and the keys, are sums of two floats, the second what rounding
// took from the first; else a long overload drifts. Virtual time begins anew
// whenever no task lives in it.
type host struct {
	clock, clockRest float64
	v, vRest         float64

	price  int64 // sum of rates in queue
	queue  queue // key: V at completion
	capped []vtask

	next   float64 // instant of the next completion, +Inf if none
	span   float64 // seconds from the clock to next
	winner int     // whose completion it is: index in capped, or -1 for the queue's first
}

// A vtask is a job's task on one host.
type vtask struct {
	key  float64 // in queue: V at completion; capped: work left
	rest float32 // in queue: what rounding took from key
	job  int32
	rate int64 // nano-dollars per second
}

// A division says how hosts are divided.
type division struct {
	capacity float64 // processors
	limit    float64 // the most for a task; 0 is no limit
}

// free returns what capped tasks leave to the others.
func (d *division) free(capped int) float64 {
	return d.capacity - float64(capped)*d.limit
}

// caps reports whether a task of this rate is at its limit where so many
// heavier tasks are, and the rates of the others, its own included, sum to
// price:
//
//	rate * free / price >= limit
func (d *division) caps(rate int64, capped int, price int64) bool {
	return float64(rate)*d.free(capped) >= d.limit*float64(price)
}

func (h *host) reset() {
	h.queue.reset()
	*h = host{queue: h.queue, capped: h.capped[:0], next: math.Inf(1)}
}

// start adds job's task on its arrival. Completions before it are done.
func (h *host) start(d *division, job *Job, number int32) {
	h.pass(d, job.Arrival-h.clock-h.clockRest)
	h.add(d, vtask{key: job.Work, rate: job.Rate, job: number})
	h.schedule(d)
}

// complete brings the host to its next completion and returns the job.
func (h *host) complete(d *division) int32 {
	h.pass(d, h.span)
	var t vtask
	if h.winner >= 0 {
		t = h.uncap(h.winner)
	} else {
		t = h.queue.remove(0)
		h.price -= t.rate
		h.v, h.vRest = t.key, float64(t.rest)
	}
	if d.limit > 0 {
		h.promote(d)
	}
	h.schedule(d)
	return t.job
}

// pass lets a span of time go by in which nothing happens.
func (h *host) pass(d *division, span float64) {
	if !(span > 0) {
		return
	}
	h.clock, h.clockRest = addTo(h.clock, h.clockRest+span)
	for i := range h.capped {
		h.capped[i].key -= span * d.limit
	}
	if h.price > 0 {
		dv := span * d.free(len(h.capped)) / float64(h.price)
		h.v, h.vRest = addTo(h.v, h.vRest+dv)
	}
}

// schedule finds the next completion. A tie between the two kinds of task goes
// to the capped one.
func (h *host) schedule(d *division) {
	h.span, h.winner = math.Inf(1), -1
	for i := range h.capped {
		if left := h.capped[i].key; left < h.span {
			h.span, h.winner = left, i
		}
	}
	if h.winner >= 0 {
		h.span /= d.limit
	}
	if len(h.queue.tasks) > 0 {
		dv := h.virtual(&h.queue.tasks[0])
		if span := dv * float64(h.price) / d.free(len(h.capped)); !(span >= h.span) {
			h.span, h.winner = span, -1
		}
	} else {
		h.v, h.vRest = 0, 0
	}
	h.span = max(h.span, 0)
	h.next = h.clock + (h.clockRest + h.span)
}

// add puts a task whose key is its work where its rate belongs. More demand can
// only take others below their limit, never bring them to it.
func (h *host) add(d *division, t vtask) {
	n := len(h.capped)
	if d.limit > 0 && (d.caps(t.rate, n, h.price+t.rate) || n > 0 && t.rate > h.capped[h.lightest()].rate) {
		h.capped = append(h.capped, t)
	} else {
		h.enqueue(t)
	}
	for len(h.capped) > 0 {
		i := h.lightest()
		rate := h.capped[i].rate
		if d.caps(rate, len(h.capped)-1, h.price+rate) {
			return
		}
		h.enqueue(h.uncap(i))
	}
}

// promote brings to their limit the tasks that less demand has raised to it.
func (h *host) promote(d *division) {
	for len(h.queue.tasks) > 0 {
		i := h.queue.heaviest()
		if !d.caps(h.queue.tasks[i].rate, len(h.capped), h.price) {
			return
		}
		t := h.queue.remove(i)
		h.price -= t.rate
		t.key, t.rest = max(0, h.virtual(&t)*float64(t.rate)), 0
		h.capped = append(h.capped, t)
	}
}

// enqueue puts a task whose key is its work left into virtual time.
func (h *host) enqueue(t vtask) {
	h.price += t.rate
	rate := float64(t.rate)
	dv := t.key / rate
	low := math.FMA(-dv, rate, t.key) / rate
	key, rest := addTo(h.v, dv)
	key, rest = addTo(key, rest+(h.vRest+low))
	t.key, t.rest = key, float32(rest)
	h.queue.push(t)
}

// virtual returns the virtual time that t, in the queue, has to run.
func (h *host) virtual(t *vtask) float64 {
	return (t.key - h.v) + (float64(t.rest) - h.vRest)
}

// uncap takes the capped task i out.
func (h *host) uncap(i int) vtask {
	t := h.capped[i]
	last := len(h.capped) - 1
	h.capped[i] = h.capped[last]
	h.capped = h.capped[:last]
	return t
}

// lightest returns the capped task of the lowest rate.
func (h *host) lightest() int {
	least := 0
	for i := range h.capped {
		if h.capped[i].rate < h.capped[least].rate {
			least = i
		}
	}
	return least
}
