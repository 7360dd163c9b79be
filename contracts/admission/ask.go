package admission

import (
	"math"
	"sort"

	"bourse/contracts"
)

// An Order says how those who wait for a [contracts.Decider] are asked.
type Order struct {
	Less    func(a, b *contracts.Request) bool // of equals the one submitted first comes first; nil: all are equal
	Scan    Scanner                            // nil: who is deferred holds up all behind; else it is told of each pass through all
	Patient bool                               // who waits beyond a hard deadline is left to the decider, otherwise rejected then

	sifter sifter // Scan, if it is one
}

// A Scanner is told that a pass through all those who wait begins.
type Scanner interface{ Scan() }

// A sifter is a scanner that knows of most who wait, in the midst of a pass, that they would be
// deferred, in less time than a decision takes.
type sifter interface {
	Defers(now float64, r *contracts.Request, fleet int) bool
}

// A judge is a decider that is told how what it accepted has ended.
type judge interface {
	Judged(r *contracts.Request, o contracts.Outcome)
}

// Immediate makes a policy of d that decides on submission. What it defers waits in
// order of submission, and is asked about again whenever there may be room.
func Immediate(d contracts.Decider) contracts.Policy { return &asker{Decider: d, at: idle} }

// Queued makes a policy of d that lets everybody wait in a queue in that order, and
// goes through it from the front whenever there may be room.
func Queued(d contracts.Decider, o Order) contracts.Policy {
	o.sifter, _ = o.Scan.(sifter)
	return &asker{Decider: d, order: &o, at: idle}
}

// An asker asks a decider about one contract after another: each sees what became of
// those before. After an acceptance a pass begins anew: there is less room now.
type asker struct {
	contracts.Decider
	order   *Order // nil: who is submitted is asked about at once
	at      int    // place in the queue of the one to be asked about next, or a mark
	said    contracts.Decision
	actions [1]contracts.Action
}

// Marks in place of a place in the queue.
const (
	idle  = -1 // nobody is to be asked about
	fresh = -2 // a pass is to begin
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
		if p.at >= 0 && p.said.Verdict == contracts.Accept {
			p.at = fresh
		}
	case contracts.Over:
		p.at = idle
		judged(p.Decider, m.Request(e.Contract), e.Outcome)
	default:
		p.at = idle
	}
	if p.at == idle {
		return nil
	}
	return p.pass(now, m)
}

// pass goes on with the pass under way, up to the next that is decided.
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
	for w := m.Waiting(); p.at < len(w); p.at++ {
		if sifter != nil && sifter.Defers(now, m.Request(w[p.at]), fleet) {
			p.said.Verdict = contracts.Defer
		} else if p.decide(now, w[p.at], m) {
			return p.actions[:] // and it leaves the queue
		}
		if !all {
			break
		}
	}
	p.at = idle
	return nil
}

// decide asks about contract i and reports whether there is anything to be done. What
// has been accepted once and is to be placed again is not turned away, unless it is too
// late: it waits.
func (p *asker) decide(now float64, i int32, m contracts.Market) bool {
	r := m.Request(i)
	d := p.Decide(now, r, m.Hosts())
	switch {
	case d.Verdict == contracts.Reject && (!r.Repeat || d.Reason == contracts.TooLate):
		p.said = d
		p.refuse(i, m)
		return true
	case d.Verdict != contracts.Accept: // mostly, where a long queue is gone through
		p.said.Verdict = contracts.Defer
		return false
	}
	p.said = d
	p.actions[0] = contracts.Action{Verb: contracts.Admit, Contract: i, Decision: &p.said}
	return true
}

// refuse turns contract i away as it has said; one that is to be placed again is broken.
func (p *asker) refuse(i int32, m contracts.Market) []contracts.Action {
	if r := m.Request(i); r.Repeat {
		judged(p.Decider, r, contracts.Broken)
	}
	p.actions[0] = contracts.Action{Verb: contracts.Refuse, Contract: i, Decision: &p.said}
	return p.actions[:]
}

// judged tells d how a contract has ended, if it wants to know.
func judged(d contracts.Decider, r *contracts.Request, o contracts.Outcome) {
	if j, ok := d.(judge); ok {
		j.Judged(r, o)
	}
}

// enqueue lets contract i wait behind its equals.
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
