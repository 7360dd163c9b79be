package admission

import (
	"math"
	"sort"

	"bourse/contracts"
)

// An Order determines the order in which a policy examines its waiting requests.
type Order struct {
	// Less defines the order of the queue; requests that are equal by Less are in order of
	// submission. If Less is nil, all requests are in order of submission.
	Less func(a, b *contracts.Request) bool
	// Scan is notified when a pass starts. With Scan, each pass covers all waiting requests.
	// If Scan is nil, a deferred request blocks all requests behind it.
	Scan Scanner
	// Patient means that requests stay in the queue after their hard deadline, for the decider
	// to handle. If Patient is false, requests are rejected at their deadlines.
	Patient bool

	sifter sifter // Scan, if it implements sifter; nil if it does not
}

// A Scanner is notified when a pass through all waiting requests starts.
type Scanner interface{ Scan() }

// A sifter is a Scanner that can predict, during a pass, that a request would be deferred. A
// prediction takes less time than a decision, and most waiting requests are deferred.
type sifter interface {
	Defers(now float64, r *contracts.Request, fleet int) bool
}

// A judge is a decider that is notified of the outcome of each contract it accepted, so that
// it can learn from outcomes.
type judge interface {
	Judged(r *contracts.Request, o contracts.Outcome)
}

// Immediate returns a policy that asks d to decide each request at its submission. Deferred
// requests wait in order of submission. The policy asks d about these requests again whenever
// resources may be free.
func Immediate(d contracts.Decider) contracts.Policy { return &asker{Decider: d, at: idle} }

// Decides returns the decider that p asks about each request at its submission, and reports
// whether p has one. A policy has no such decider if requests first enter a queue or if p is
// another kind of policy.
func Decides(p contracts.Policy) (contracts.Decider, bool) {
	if a, ok := p.(*asker); ok && a.order == nil {
		return a.Decider, true
	}
	return nil, false
}

// Queued returns a policy that puts every request in a queue with order o and later asks d to
// decide it. The policy examines the queue from the front whenever resources may be free.
func Queued(d contracts.Decider, o Order) contracts.Policy {
	o.sifter, _ = o.Scan.(sifter)
	return &asker{Decider: d, order: &o, at: idle}
}

// An asker asks a decider about one contract at a time. Each decision takes the effects of the
// previous decisions into account. After an acceptance a new pass starts, because fewer
// resources are free.
type asker struct {
	contracts.Decider
	order   *Order // order of the queue; if nil, requests are decided at submission
	at      int    // position in the queue of the next request to decide, or a mark
	said    contracts.Decision
	actions [1]contracts.Action
}

// These marks replace a position in the queue.
const (
	idle  = -1 // there is nothing to decide
	fresh = -2 // a new pass must start
)

// Next implements [contracts.Policy].
func (*asker) Next() (float64, bool) { return math.Inf(1), false }

// Handle implements [contracts.Policy].
func (p *asker) Handle(now float64, e contracts.Event, m contracts.Market) []contracts.Action {
	switch e.Kind {
	case contracts.Submitted:
		p.said.Verdict = contracts.Defer
		if p.order != nil {
			p.at = fresh
			return p.enqueue(e.Contract, m)
		}
		p.at = idle
		// Without a queue order, the request is decided at once. If it is deferred, it enters
		// the queue.
		if p.decide(now, e.Contract, m) {
			return p.actions[:]
		}
		return p.enqueue(e.Contract, m)
	case contracts.Lost:
		p.at = idle
		return p.enqueue(e.Contract, m)
	case contracts.Overdue:
		p.at = idle
		if p.order != nil && p.order.Patient {
			return nil
		}
		p.said = contracts.Decision{Reason: contracts.TooLate}
		return p.refuse(e.Contract, m)
	case contracts.Freed:
		p.at = fresh
	case contracts.Continue:
		// After an acceptance fewer resources are free, so a new pass starts from the front.
		if p.at >= 0 && p.said.Verdict == contracts.Accept {
			p.at = fresh
		}
	case contracts.Over:
		p.at = idle
		Judged(p.Decider, m.Request(e.Contract), e.Outcome)
	default:
		p.at = idle
	}
	if p.at == idle {
		return nil
	}
	return p.pass(now, m)
}

// pass continues the current pass up to the next request that is accepted or rejected.
func (p *asker) pass(now float64, m contracts.Market) []contracts.Action {
	all := p.order == nil || p.order.Scan != nil
	if p.at == fresh {
		p.at = 0
		if p.order != nil && p.order.Scan != nil && len(m.Waiting()) > 0 {
			p.order.Scan.Scan()
		}
	}
	var sifter sifter
	if p.order != nil {
		sifter = p.order.sifter
	}
	fleet := m.Hosts().Fleet()
	// Skip requests that would certainly be deferred, and stop at the first decision that
	// requires an action. The event Continue resumes the pass after the broker has carried out
	// the action.
	for w := m.Waiting(); p.at < len(w); p.at++ {
		if sifter != nil && sifter.Defers(now, m.Request(w[p.at]), fleet) {
			p.said.Verdict = contracts.Defer
		} else if p.decide(now, w[p.at], m) {
			return p.actions[:] // the request leaves the queue
		}
		if !all {
			break
		}
	}
	p.at = idle
	return nil
}

// decide asks the decider about contract i and reports whether an action must be carried out. A
// contract that was accepted before and must be placed again waits until it can be placed, or
// is rejected when it is too late.
func (p *asker) decide(now float64, i int32, m contracts.Market) bool {
	r := m.Request(i)
	d := p.Decide(now, r, m.Hosts())
	switch {
	case d.Verdict == contracts.Reject && (!r.Repeat || d.Reason == contracts.TooLate):
		p.said = d
		p.refuse(i, m)
		return true
	case d.Verdict != contracts.Accept: // the usual case in a long queue
		p.said.Verdict = contracts.Defer
		return false
	}
	p.said = d
	p.actions[0] = contracts.Action{Verb: contracts.Admit, Contract: i, Decision: &p.said}
	return true
}

// refuse rejects contract i with the last decision. If the contract was waiting to be placed
// again, its promise is broken, and the decider is notified.
func (p *asker) refuse(i int32, m contracts.Market) []contracts.Action {
	if r := m.Request(i); r.Repeat {
		Judged(p.Decider, r, contracts.Broken)
	}
	p.actions[0] = contracts.Action{Verb: contracts.Refuse, Contract: i, Decision: &p.said}
	return p.actions[:]
}

// Judged notifies d of the outcome of a contract that it accepted, if d has a method Judged. A
// policy that consults other deciders uses Judged to pass outcomes to them.
func Judged(d contracts.Decider, r *contracts.Request, o contracts.Outcome) {
	if j, ok := d.(judge); ok {
		j.Judged(r, o)
	}
}

// enqueue puts contract i in the queue, behind all contracts that are equal by Less.
func (p *asker) enqueue(i int32, m contracts.Market) []contracts.Action {
	waiting := m.Waiting()
	place := len(waiting)
	if p.order != nil && p.order.Less != nil {
		r := m.Request(i)
		place = sort.Search(len(waiting), func(k int) bool { return p.order.Less(r, m.Request(waiting[k])) })
	}
	p.actions[0] = contracts.Action{Verb: contracts.Enqueue, Contract: i, Place: place}
	return p.actions[:]
}
