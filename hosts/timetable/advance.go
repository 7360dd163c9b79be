package timetable

import "slices"

// Advance brings the book to now, in which the jobs named by ended, if any,
// were found to have completed, and appends what follows to facts in the order
// in which it happens: completions, overruns, starts. It panics if now is past
// [Book.Next] or a job named does not run; it sorts ended.
//
// What ends early makes room: the whole plan is rebuilt, and the new plan is
// adopted if it keeps every deadline, which a greedy plan may fail to do.
func (b *Book) Advance(now int64, ended []int64, facts []Fact) []Fact {
	b.bring(now)
	g := noGap
	slices.Sort(ended)
	for _, id := range ended {
		e := b.byID[id]
		if e == nil || !e.runs {
			panic("timetable: a job ended that was not running")
		}
		facts = append(facts, Fact{now, id, Ended})
		b.vacate(e, now, &g)
	}
	early := g != noGap
	facts = b.overruns(now, &g, facts)
	if early {
		b.pull(now, g)
	}
	if len(ended) > 0 {
		b.refreshEnds()
	}
	return b.startDue(facts)
}

// bring moves the book's present to now.
func (b *Book) bring(now int64) {
	if now < b.now || now > b.Next() {
		panic("timetable: brought to a second before the last or after the next event")
	}
	b.now = now
	if len(b.steps.at) > 4*(len(b.plan)+len(b.running))+64 {
		b.steps.trim(now)
	}
}

// vacate ends a running job and adds what it leaves free to g.
func (b *Book) vacate(e *entry, now int64, g *gap) {
	if e.end > now {
		b.steps.add(now, e.end, e.Nodes)
		g.widen(now, e.end)
	}
	b.stop(e, now)
	b.drop(e)
	b.version++
}

// overruns extends or kills, in order of id, what runs past its estimate.
func (b *Book) overruns(now int64, g *gap, facts []Fact) []Fact {
	if b.nextEnd > now {
		return facts
	}
	for i := 0; i < len(b.running); {
		e := b.running[i]
		switch {
		case e.end > now:
			i++
		case b.config.Overrun == Extend && b.extend(e, now, *g):
			facts = append(facts, Fact{now, e.ID, Extended})
			i++
		default:
			facts = append(facts, Fact{now, e.ID, Killed})
			b.vacate(e, now, g)
		}
	}
	b.refreshEnds()
	return facts
}

// extend gives e more time if a plan without its nodes keeps every deadline. Its
// own is not looked at: it is late by its own underestimate.
func (b *Book) extend(e *entry, now int64, g gap) bool {
	end := now + b.config.extension(e.span)
	t := b.whole()
	t.steps.add(now, end, -e.Nodes)
	if !b.replan(t, now, b.searched(g)) {
		return false
	}
	b.adopt(t)
	b.usage.ending += int64(e.Nodes) * (end - e.end)
	e.end = end
	b.version++
	return true
}

// pull rebuilds the plan after g was vacated, and keeps the old one if the new
// one misses a deadline.
func (b *Book) pull(now int64, g gap) {
	t := b.whole()
	if b.replan(t, now, b.searched(g)) {
		b.adopt(t)
	} else {
		b.canonical = false
	}
	b.version++
}

// whole returns the book's trial, about to put back all that is planned.
func (b *Book) whole() *trial {
	t := &b.trial
	t.quote, t.first, t.joins = 0, 0, false
	t.steps.copyFrom(&b.steps)
	return t
}

// searched returns what must be searched for earlier starts if g was vacated.
func (b *Book) searched(g gap) gap {
	if !b.canonical {
		return wideGap
	}
	return g
}

// startDue starts what is planned for the present, in key order.
func (b *Book) startDue(facts []Fact) []Fact {
	if b.nextStart > b.now {
		return facts
	}
	kept := b.plan[:0]
	for _, e := range b.plan {
		if e.start > b.now {
			kept = append(kept, e)
			continue
		}
		e.end = e.start + e.span
		b.usage.planned -= int64(e.Nodes) * e.span
		b.run(e, b.now)
		b.nextEnd = min(b.nextEnd, e.end)
		facts = append(facts, Fact{b.now, e.ID, Started})
	}
	clear(b.plan[len(kept):])
	b.plan = kept
	b.version++
	b.refreshStarts()
	return facts
}
