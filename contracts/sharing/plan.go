package sharing

import (
	"math"

	"bourse/contracts"
)

// A Promise describes a task on a host, with the terms of its contract that determine the
// task's priority.
type Promise struct {
	Left   float64 // estimated remaining runtime on its host, s
	Span   float64 // time until its deadline, s
	Target float64 // time until its planned completion, s; Span if the task was never delayed
	Keep   float64 // processors that the task needs after its estimate is used up
	Stops  bool    // whether the task is stopped at its deadline
	Terms
}

// Terms are the parts of a promise that do not change over time.
type Terms struct {
	Hard     bool
	Runtime  float64 // estimated runtime of one node, s at the reference speed
	Deadline float64 // s after submission
	Budget   float64 // $
	Penalty  contracts.Penalty
}

// TermsOf returns the terms of request r. A request is hard unless its SLA is soft.
func TermsOf(r *contracts.Request) Terms {
	return Terms{!r.SLA.Soft, r.Work, r.SLA.Deadline, r.SLA.Budget.Float64(), r.SLA.Penalty}
}

// Rank returns the return on the task if it ends in time (line 6). For example, $360 for a runtime of
// 60 s within 120 s gives 0.05.
func (t *Terms) Rank() float64 { return t.Budget / t.Runtime / t.Deadline }

// Delay returns the expected delay of a task in seconds (lines 21, 22). The arguments left and
// span are the remaining runtime and the time until the deadline, both in seconds, and share is
// the number of processors of the task. The delay is left / share − span, or 0 if this does not
// exceed the tolerance. A task without a deadline is never late.
func (t *Terms) Delay(left, span, share float64) float64 {
	delay := -span
	if left > Tick && !math.IsInf(span, 1) {
		delay += left / share
	}
	if delay <= Tick+contracts.Tolerance*t.Deadline {
		return 0
	}
	return delay
}

// Utility returns the utility of a task with the given delay in seconds: its budget minus the
// penalty, in dollars (eq. 1). It is negative if the penalty exceeds the budget.
func (t *Terms) Utility(delay float64) float64 {
	if math.IsInf(delay, 1) {
		return math.Inf(-1)
	}
	return t.Budget - t.Penalty.Of(delay)
}

// Return returns the return on the given utility, in dollars per second squared: utility
// divided by runtime and by deadline (eq. 5).
func (t *Terms) Return(utility float64) float64 { return utility / t.Runtime / t.Deadline }

// PromiseOf returns the promise of s, a node of contract c, at now on a host of the given
// speed.
func PromiseOf(now float64, s *contracts.Allocation, c *contracts.Contract, speed float64) Promise {
	p := Offer(&c.Request, speed)
	p.Left, p.Span, p.Keep = s.Left(now, c)/speed, c.Due()-now, s.Need
	p.Target, p.Stops = max(p.Span, s.Target-now), !c.Request.SLA.GoesOn()
	return p
}

// Offer returns the promise of one node of r, submitted just now, on a host of the given
// speed. Admission uses it to test whether the request fits.
func Offer(r *contracts.Request, speed float64) Promise {
	d := r.SLA.Deadline
	return Promise{Left: r.Work / speed, Span: d, Target: d, Terms: TermsOf(r)}
}

// SLAOptions select interpretations of details that the LibraSLA paper does not specify.
type SLAOptions struct {
	Late    string `yaml:"late" validate:"oneof=shift pressure" doc:"share of a delayed task: shift (to end when its reduced share would end it) or pressure (to end by its deadline; after it, a whole processor)"`
	Protect string `yaml:"protect" validate:"oneof=strict printed" doc:"if hard tasks and the best-paid task do not fit together: strict (the host accepts no more) or printed (their return counts as if they were on time)"`
}

// DefaultSLA returns the options that reproduce the paper's results.
func DefaultSLA() SLAOptions { return SLAOptions{Late: "shift", Protect: "strict"} }

// A Plan allocates a host so that only soft tasks are delayed, except the soft task with the
// highest return. It also computes the return of the host (SLA, Algorithm 2). Its slices have
// one element per task, in the order given. A Plan can be reused, which also reuses its memory.
//
// If the needs exceed the host, the needs of hard tasks are met first, and then the need of the
// top task. The other tasks divide the remaining capacity in proportion to their needs. For
// example, one processor has a hard task that needs 0.5, a top task that needs 0.3 and two
// others that need 0.2 each. The last two receive 0.1 each.
type Plan struct {
	SLAOptions
	Need     []float64 // processors
	Share    []float64 // processors
	Delay    []float64 // s, with that share
	Utility  []float64 // $ (eq. 1)
	Top      int       // index of the task with the highest return; the first of equal tasks
	Total    float64   // sum of needs
	Return   float64   // return of the host: sum of utility / runtime / deadline (eq. 5, 6)
	Feasible bool      // whether hard tasks and the top task receive the shares that they need
}

// Make computes the complete plan for the given tasks on n.
//
// In the paper, line 11 of the algorithm has the inequality reversed. There is unallocated
// time if the total does not exceed the host.
func (p *Plan) Make(n Node, tasks []Promise) {
	p.Divide(n, tasks)
	p.Judge(tasks)
}

// Divide computes only the needs and shares. [Plan.Judge] computes the rest from them.
func (p *Plan) Divide(n Node, tasks []Promise) {
	p.need(n, tasks)
	p.divide(n, tasks)
}

// need computes the need of each task, their total, and the top task.
func (p *Plan) need(n Node, tasks []Promise) {
	p.Need, p.Total, p.Top = p.Need[:0], 0, 0
	top := math.Inf(-1)
	for i := range tasks {
		t := &tasks[i]
		by := t.Target
		if p.Late == "pressure" {
			by = t.Span
		}
		need := Required(t.Left, by, t.Keep)
		if t.Stops && t.Span <= Tick { // the task stops now and cannot complete, so it must not delay other tasks
			need = t.Keep
		}
		need = min(n.Most, need)
		p.Need = append(p.Need, need)
		p.Total += need
		if rank := t.Rank(); rank > top {
			p.Top, top = i, rank
		}
	}
}

// divide computes the shares from the needs. Capacity that no task needs goes to the top task.
func (p *Plan) divide(n Node, tasks []Promise) {
	p.Share, p.Feasible = append(p.Share[:0], p.Need...), true
	if p.Total <= n.Size+Sliver {
		if len(tasks) > 0 {
			p.Share[p.Top] = min(n.Most, p.Share[p.Top]+max(0, n.Size-p.Total))
		}
		return
	}
	hard, top, others := 0.0, 0.0, 0.0
	for i, need := range p.Need {
		switch {
		case tasks[i].Hard:
			hard += need
		case i == p.Top:
			top = need
		default:
			others += need
		}
	}
	p.Feasible = hard+top <= n.Size+Sliver
	if hard > n.Size+Sliver {
		// Even without the soft tasks, the needs exceed the host, so some of these tasks must
		// be late. All tasks are slowed by the same factor.
		for i := range p.Share {
			p.Share[i] *= n.Size / p.Total
		}
		return
	}
	room := max(0, n.Size-hard)
	for i := range p.Share {
		switch {
		case tasks[i].Hard:
		case i == p.Top:
			p.Share[i] = min(top, room)
		default:
			p.Share[i] *= part(room, top, others)
		}
	}
}

// part returns the fraction of their needs that the other tasks receive. These tasks need
// others processors in total. They divide the part of room that remains after top processors
// are used. A remainder of at most [Sliver] is a rounding error and counts as 0.
func part(room, top, others float64) float64 {
	if rest := room - top; rest > Sliver && others > 0 {
		return rest / others
	}
	return 0
}

// protected reports whether task i must not be delayed: it is hard or the top task.
func (p *Plan) protected(tasks []Promise, i int) bool { return tasks[i].Hard || i == p.Top }

// Judge computes the delays, the utilities and the return of the host from the shares that
// Divide has computed.
func (p *Plan) Judge(tasks []Promise) {
	p.Delay, p.Utility, p.Return = p.Delay[:0], p.Utility[:0], 0
	for i := range tasks {
		t := &tasks[i]
		delay := t.Delay(t.Left, t.Span, p.Share[i])
		utility := t.Utility(delay)
		if p.assumed(tasks, i) {
			utility = t.Budget
		}
		p.Delay = append(p.Delay, delay)
		p.Utility = append(p.Utility, utility)
		p.Return += t.Return(utility)
	}
}

// assumed reports whether the utility of task i is computed as if the task were in time, as in
// lines 18 and 19. The task is nevertheless late, as Delay shows. Therefore no hard task is
// admitted with such a plan (Algorithm 1, line 8).
func (p *Plan) assumed(tasks []Promise, i int) bool {
	return p.Protect == "printed" && !p.Feasible && p.protected(tasks, i)
}
