package sharing

import (
	"math"

	"bourse/contracts"
)

// A Promise is a task with what its contract is paid for.
type Promise struct {
	Left   float64 // estimated remaining runtime on its host, s
	Span   float64 // until its deadline, s
	Target float64 // until it is meant to be done, s; Span if it was never delayed
	Keep   float64 // processors that it needs once its estimate is used up
	Stops  bool    // work ends with the span
	Terms
}

// Terms are what of a promise time does not change.
type Terms struct {
	Hard     bool
	Runtime  float64 // estimated, of the whole job, s at the reference speed
	Deadline float64 // s after submission
	Budget   float64 // $
	Penalty  contracts.Penalty
}

// TermsOf returns the terms of r.
func TermsOf(r *contracts.Request) Terms {
	return Terms{!r.SLA.Soft, r.Work, r.SLA.Deadline, r.SLA.Budget.Float64(), r.SLA.Penalty}
}

// Rank returns what decides who comes first, in dollars per second squared: the
// return if it ends in time (line 6).
func (t *Terms) Rank() float64 { return t.Budget / t.Runtime / t.Deadline }

// Delay returns how late a task will be that has that much left, s, until a
// deadline span away, s, on that share of a host, processors (lines 21, 22). Nothing is
// late that has no deadline.
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

// Utility returns what a task that is that late, s, is worth, in dollars (eq. 1).
func (t *Terms) Utility(delay float64) float64 {
	if math.IsInf(delay, 1) {
		return math.Inf(-1)
	}
	return t.Budget - t.Penalty.Of(delay)
}

// Return returns what so much utility comes to, in dollars per second squared
// (eq. 5).
func (t *Terms) Return(utility float64) float64 { return utility / t.Runtime / t.Deadline }

// PromiseOf returns s, a node of c on a host of that speed, as it stands at now.
func PromiseOf(now float64, s *contracts.Allocation, c *contracts.Contract, speed float64) Promise {
	p := Offer(&c.Request, speed)
	p.Left, p.Span, p.Keep = s.Left(now, c)/speed, c.Due()-now, s.Need
	p.Target, p.Stops = max(p.Span, s.Target-now), !c.Request.SLA.GoesOn()
	return p
}

// Offer returns one node of r, submitted just now, on a host of that speed.
func Offer(r *contracts.Request, speed float64) Promise {
	d := r.SLA.Deadline
	return Promise{Left: r.Work / speed, Span: d, Target: d, Terms: TermsOf(r)}
}

// SLAOptions say how LibraSLA reads its paper where that is silent.
type SLAOptions struct {
	Late    string `yaml:"late" validate:"oneof=shift pressure" doc:"a delayed task needs what ends it: shift (when its cut share would have) or pressure (by its deadline, past it a whole processor)"`
	Protect string `yaml:"protect" validate:"oneof=strict printed" doc:"hard tasks and the best paid that do not fit together: strict (their host takes no more) or printed (what they return is counted as if they were in time)"`
}

// DefaultSLA returns the readings with which the paper's results come out.
func DefaultSLA() SLAOptions { return SLAOptions{Late: "shift", Protect: "strict"} }

// A Plan allocates a host so that delay falls on soft tasks, but not on the one
// that returns most, and says what the host then returns (SLA, Algorithm 2).
// Slices have one element a task, in the order given.
type Plan struct {
	SLAOptions
	Need     []float64 // processors
	Share    []float64 // processors
	Delay    []float64 // s, at that share
	Utility  []float64 // $ (eq. 1)
	Top      int       // the task that returns most; the first of equals
	Total    float64   // sum of needs
	Return   float64   // of the host: sum of utility / runtime / deadline (eq. 5, 6)
	Feasible bool      // hard tasks and the top one have what they need
}

// Make makes the plan for these tasks on n.
//
// Line 11 of the algorithm is printed with the inequality the wrong way round:
// there is unallocated time where the total does not exceed the host.
func (p *Plan) Make(n Node, tasks []Promise) {
	p.Divide(n, tasks)
	p.Judge(tasks)
}

// Divide fills in what each task needs and gets.
func (p *Plan) Divide(n Node, tasks []Promise) {
	p.need(n, tasks)
	p.divide(n, tasks)
}

// need fills in what each needs, and who is on top.
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
		if t.Stops && t.Span <= Tick { // it is about to go: nobody is delayed for what it cannot do
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

// divide fills in what each gets.
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
		// Hard tasks must be late: all are, alike.
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

// part returns what part of their needs, processors in all, others get of what top leaves
// of room; what rounding leaves is nothing.
func part(room, top, others float64) float64 {
	if rest := room - top; rest > Sliver && others > 0 {
		return rest / others
	}
	return 0
}

func (p *Plan) protected(tasks []Promise, i int) bool { return tasks[i].Hard || i == p.Top }

// Judge fills in what comes of the shares, which Divide has filled in.
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

// assumed reports whether task i counts as if it were in time, as in lines 18 and
// 19. It is late all the same: no hard task is let in so (Algorithm 1, line 8).
func (p *Plan) assumed(tasks []Promise, i int) bool {
	return p.Protect == "printed" && !p.Feasible && p.protected(tasks, i)
}
