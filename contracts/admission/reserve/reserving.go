package reserve

import (
	"math"
	"slices"

	"bourse/contracts"
	"bourse/hosts/matchmaking"
	"bourse/hosts/timetable"
)

var _ contracts.Policy = (*reserve)(nil)

// Handle implements [contracts.Policy].
func (p *reserve) Handle(now float64, e contracts.Event, m contracts.Market) []contracts.Action {
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
		b := p.sold[id].parts[e.Part].book
		b.done(now, int64(id))
		p.index.update(b)
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
func (p *reserve) Next() (at float64, last bool) {
	if at = p.index.due.First(); p.wake != timetable.Forever {
		at = min(at, float64(p.wake))
	}
	return at, false
}

// ask decides contract i, and reports whether an action must be carried out.
func (p *reserve) ask(now float64, i int32, m contracts.Market) bool {
	p.said = p.decide(now, m.Request(i), m.Hosts())
	verb := contracts.Refuse
	switch p.said.Verdict {
	case contracts.Defer:
		return false
	case contracts.Accept:
		verb, p.pass.pending = contracts.Book, true
		p.sold[m.Request(i).ID] = p.sell(i)
	}
	p.actions = append(p.actions, contracts.Action{Verb: verb, Contract: i, Decision: &p.said})
	return true
}

// sell records contract i as a sale in the chosen books, and returns the sale.
func (p *reserve) sell(i int32) *sale {
	s := &sale{contract: i}
	for k := range p.chosen {
		c := &p.chosen[k]
		s.parts = append(s.parts, part{book: p.books[c.Seller]})
		s.span = max(s.span, c.Quote.Completion-c.Quote.Start)
	}
	return s
}

// choose asks the books for quotes on r, and reports whether each part has a quote. The
// argument j is r in whole seconds.
func (p *reserve) choose(j *timetable.Job, r *contracts.Request) bool {
	alone, joint, few := p.match, p.joint, p.few
	if r.OnDemand && p.o.ODMap != "same" {
		alone, joint, few = p.onDemand, p.onDemand, true
	}
	if r.Gangs() > 1 {
		var ok bool
		p.chosen, ok = matchmaking.Together(j.Arrival, p.order(j, r), p.venues, joint)
		return ok
	}
	window, numbers := p.window, []int32(nil)
	if few {
		window, numbers = p.index.quoting(p.books, j, alone != p.match || p.o.Match != "ff")
	}
	c, ok := alone.Match(j.Arrival, *j, window)
	if ok && few {
		c.Seller = int(numbers[c.Seller])
	}
	p.chosen = append(p.chosen[:0], c)
	return ok
}

// decide asks the books about r. A request that arrives within a second is deferred to the
// next full second. An acceptance reports the following numbers, over all parts:
//
//	start, completion  as currently planned; times
//	impact             total laxity lost by contracts still to start, s; may be negative
//	ask                the price, $, if prices are asked
func (p *reserve) decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	if at := math.Ceil(now); at > now {
		p.wake = second(at)
		return contracts.Decision{Verdict: contracts.Defer}
	}
	p.see(v)
	j := p.job(now, r)
	if !p.choose(&j, r) {
		return contracts.Decision{Reason: p.why(&j, r)}
	}
	p.places = p.places[:0]
	start, completion, impact := p.chosen[0].Quote.Start, int64(0), int64(0)
	for n := range p.chosen {
		q := &p.chosen[n].Quote
		completion, impact = max(completion, q.Completion), impact+p.price.impact.Lost(q)
		p.places = append(p.places, contracts.Placement{Host: p.books[p.chosen[n].Seller].host, Nodes: q.Job.Nodes})
	}
	p.numbers = p.numbers[:0].With("start", float64(start)).With("completion", float64(completion)).With("impact", float64(impact))
	d := contracts.Decision{Verdict: contracts.Accept, Placements: p.places, Numbers: p.numbers}
	if p.price.on() {
		ask := p.price.all(p.chosen)
		if ask > r.SLA.Budget.Float64() {
			d = contracts.Decision{Reason: contracts.TooDear, Numbers: p.numbers[:0]}
		}
		d.Price(ask)
	}
	return d
}

// entered commits the last acceptance in the chosen books, unless the owner could not pay. It
// appends the actions that result from the commitment, such as starts that are due now. When it
// is called, all earlier requests have been decided, so the next request is first in the queue.
func (p *reserve) entered(m contracts.Market) {
	if !p.pass.pending {
		return
	}
	p.pass.pending = false
	if p.said.Verdict != contracts.Accept {
		delete(p.sold, contracts.ID(p.chosen[0].Quote.Job.ID))
		return
	}
	for n := range p.chosen {
		c := &p.chosen[n]
		b := p.books[c.Seller]
		var err error
		if p.facts, err = b.Commit(c.Quote.At, c.Quote, p.facts[:0]); err != nil {
			panic("reserve: a book has changed since it quoted: " + err.Error())
		}
		p.follow(b)
		p.index.update(b)
	}
}

// advance appends the actions that are due by now.
func (p *reserve) advance(now float64) {
	last := int32(-1)
	p.again = p.again[:0]
	for n, at, some := p.index.due.Min(); some && at <= now; n, at, some = p.index.due.Min() {
		if n < last { // a part was removed from a book with an earlier number, which is due again
			p.index.due.Remove(n)
			p.again = append(p.again, n)
			continue
		}
		b := p.books[n]
		for last = n; float64(b.next()) <= now; {
			p.facts = b.advance(p.facts[:0])
			p.follow(b)
		}
		p.index.update(b)
	}
	for _, n := range p.again {
		p.index.due.Set(n, float64(p.books[n].next()))
	}
	if float64(p.wake) <= now {
		p.wake = timetable.Forever
	}
}

// cancel withdraws contract i, unless its work is done. The fee is the fraction CancelFee of
// the price. After the start it is the elapsed fraction of the estimated time, if that is
// higher.
func (p *reserve) cancel(now float64, i int32, id contracts.ID) {
	s := p.sold[id]
	if s == nil || !slices.ContainsFunc(s.parts, func(x part) bool { return x.open(id) }) {
		return
	}
	due, of := p.o.CancelFee, 1.0
	if passed, span := now-float64(s.start), float64(s.span); s.begun && passed > due*span {
		due, of = passed, span
	}
	delete(p.sold, id)
	p.actions = append(p.actions, contracts.Action{Verb: contracts.Release, Contract: i, Due: due, Of: of})
	for _, x := range s.parts {
		if !x.open(id) {
			continue
		}
		var err error
		if p.facts, err = x.book.cancel(now, int64(id), x.begun, p.facts[:0]); err != nil {
			panic("reserve: " + err.Error())
		}
		p.follow(x.book)
		p.index.update(x.book)
	}
}

// open reports whether the part with this id still has work left, as far as the policy knows.
func (x *part) open(id contracts.ID) bool { return !x.over && !slices.Contains(x.ended, int64(id)) }

// follow appends the actions that follow from the facts of b. It ignores facts about withdrawn
// contracts.
func (p *reserve) follow(b *book) {
	for _, f := range p.facts {
		id := contracts.ID(f.Job)
		s := p.sold[id]
		if s == nil {
			continue
		}
		n := slices.IndexFunc(s.parts, func(x part) bool { return x.book == b })
		a := contracts.Action{Contract: s.contract, Part: int32(n)}
		switch x := &s.parts[n]; f.What {
		case timetable.Started:
			if !s.begun {
				s.begun, s.start = true, f.At
			}
			x.begun = true
			a.Verb = contracts.Launch
		case timetable.Resumed:
			a.Verb = contracts.Launch
		case timetable.Suspended:
			a.Verb = contracts.Suspend
		case timetable.Ended:
			x.over = true
			a.Verb = contracts.Suspend
			if !slices.ContainsFunc(s.parts, func(x part) bool { return !x.over }) {
				a.Verb = contracts.Finish
				delete(p.sold, id)
			}
		case timetable.Killed:
			x.over = true
			a.Verb = contracts.Stop
			p.drop(s, f)
			delete(p.sold, id)
		default:
			continue
		}
		p.actions = append(p.actions, a)
	}
}

// drop removes the remaining parts of s from their books after one part has been killed.
func (p *reserve) drop(s *sale, f timetable.Fact) {
	for n := range s.parts {
		if x := &s.parts[n]; !x.over {
			x.book.drop(f.At, f.Job)
			p.index.update(x.book)
		}
	}
}
