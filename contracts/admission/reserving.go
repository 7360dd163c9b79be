package admission

import (
	"math"
	"slices"

	"bourse/contracts"
	"bourse/hosts/timetable"
)

var _ contracts.Policy = (*Reserve)(nil)

// Handle implements [contracts.Policy].
func (p *Reserve) Handle(now float64, e contracts.Event, m contracts.Market) []contracts.Action {
	p.actions = p.actions[:0]
	switch e.Kind {
	case contracts.Submitted:
		p.pass.at = idle
		if !p.ask(now, e.Contract, m) {
			p.actions = append(p.actions, contracts.Action{Verb: contracts.Enqueue, Contract: e.Contract, Place: len(m.Waiting())})
		}
		return p.actions
	case contracts.Freed:
		p.pass.at = 0
	case contracts.Continue:
		if p.entered(m); len(p.actions) > 0 {
			return p.actions
		}
	case contracts.Done:
		p.pass.at = idle
		id := m.Request(e.Contract).ID
		p.sold[id].done(now, int64(id))
	case contracts.Tick:
		p.pass.at = idle
		p.advance(now)
		return p.actions
	case contracts.Withdrawn:
		p.pass.at = idle
		p.cancel(now, e.Contract, m.Request(e.Contract).ID)
		return p.actions
	default:
		p.pass.at = idle
	}
	if p.pass.at == idle {
		return nil
	}
	for w := m.Waiting(); p.pass.at < len(w); p.pass.at++ {
		if p.ask(now, w[p.pass.at], m) {
			return p.actions
		}
	}
	p.pass.at = idle
	return nil
}

// Next implements [contracts.Policy].
func (p *Reserve) Next() (at float64, last bool) {
	next := p.wake
	for _, b := range p.books {
		next = min(next, b.next())
	}
	if next == timetable.Forever {
		return math.Inf(1), false
	}
	return float64(next), false
}

// ask decides about contract i, and reports whether there is anything to be done.
func (p *Reserve) ask(now float64, i int32, m contracts.Market) bool {
	p.said = p.decide(now, m.Request(i), m.Hosts())
	verb := contracts.Refuse
	switch p.said.Verdict {
	case contracts.Defer:
		return false
	case contracts.Accept:
		verb, p.pass.pending = contracts.Book, true
		p.sold[m.Request(i).ID] = &sale{book: p.books[p.chosen.Seller], contract: i, span: p.chosen.Quote.Completion - p.chosen.Quote.Start}
	}
	p.actions = append(p.actions, contracts.Action{Verb: verb, Contract: i, Decision: &p.said})
	return true
}

// decide asks the books about r. What comes within a second is decided at the next. An
// acceptance has as numbers
//
//	start, completion  as planned at present, instants
//	impact             laxity that contracts still to start lose in all, s; may be negative
//	ask                the price, $, if one is asked
func (p *Reserve) decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	if at := math.Ceil(now); at > now {
		p.wake = second(at)
		return contracts.Decision{Verdict: contracts.Defer}
	}
	p.see(v)
	j := p.job(now, r)
	m := p.match
	if r.OnDemand {
		m = p.onDemand
	}
	choice, ok := m.Match(j.Arrival, j, p.window)
	if !ok {
		return contracts.Decision{Reason: p.why(&j)}
	}
	p.chosen = choice
	q := &p.chosen.Quote
	d := contracts.Decision{Verdict: contracts.Accept, Placements: p.places[:]}
	p.numbers = p.numbers[:0].With("start", float64(q.Start)).With("completion", float64(q.Completion)).
		With("impact", float64(p.price.impact.Lost(q)))
	d.Numbers = p.numbers
	if p.price.on() {
		ask, _ := p.price.of(q).Float64()
		if ask > r.SLA.Budget.Float64() {
			d = contracts.Decision{Reason: TooDear, Numbers: p.numbers[:0]}
		}
		if d.Price(ask); d.Reason != contracts.None {
			return d
		}
	}
	p.places[0] = contracts.Placement{Host: p.books[choice.Seller].host}
	return d
}

// entered enters what was decided last in its book, if it could be paid for, and
// appends what follows at once. The next is then first in the queue: all before it
// have been decided.
func (p *Reserve) entered(m contracts.Market) {
	if !p.pass.pending {
		return
	}
	p.pass.pending = false
	q := &p.chosen.Quote
	if p.said.Verdict != contracts.Accept {
		delete(p.sold, contracts.ID(q.Job.ID))
		return
	}
	var err error
	if p.facts, err = p.books[p.chosen.Seller].Commit(q.At, *q, p.facts[:0]); err != nil {
		panic("admission: a book has changed since it quoted: " + err.Error())
	}
	p.follow()
}

// advance appends the steps due by now.
func (p *Reserve) advance(now float64) {
	for _, b := range p.books {
		for float64(b.next()) <= now {
			p.facts = b.advance(p.facts[:0])
			p.follow()
		}
	}
	if float64(p.wake) <= now {
		p.wake = timetable.Forever
	}
}

// cancel takes contract i back, unless its work is done: then it does nothing. Whoever
// cancels owes the fee; and once the contract has started, if that is more, the part
// of its estimate that has passed.
func (p *Reserve) cancel(now float64, i int32, id contracts.ID) {
	s := p.sold[id]
	if s == nil || slices.Contains(s.ended, int64(id)) {
		return
	}
	var err error
	if p.facts, err = s.book.cancel(now, int64(id), s.begun, p.facts[:0]); err != nil {
		return
	}
	due := p.o.CancelFee
	if s.begun {
		due = max(due, min(1, (now-float64(s.start))/float64(s.span)))
	}
	delete(p.sold, id)
	p.actions = append(p.actions, contracts.Action{Verb: contracts.Release, Contract: i, Part: due})
	p.follow()
}

// follow appends what the facts ask for. What has been taken back is nobody's.
func (p *Reserve) follow() {
	for _, f := range p.facts {
		id := contracts.ID(f.Job)
		s := p.sold[id]
		if s == nil {
			continue
		}
		a := contracts.Action{Contract: s.contract}
		switch f.What {
		case timetable.Started:
			s.begun, s.start = true, f.At
			a.Verb = contracts.Launch
		case timetable.Resumed:
			a.Verb = contracts.Launch
		case timetable.Suspended:
			a.Verb = contracts.Suspend
		case timetable.Ended:
			a.Verb = contracts.Finish
			delete(p.sold, id)
		case timetable.Killed:
			a.Verb = contracts.Stop
			delete(p.sold, id)
		default:
			continue
		}
		p.actions = append(p.actions, a)
	}
}
