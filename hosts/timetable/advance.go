package timetable

import "slices"

// Advance moves the book to now and records that the jobs in ended have completed. It appends the
// resulting facts to facts: first completions, then overruns, then starts. It panics if now is
// after [Book.Next] or if a job in ended is not running. It sorts ended.
//
// A job that ends early frees nodes. The whole plan is then rebuilt. The new plan is adopted
// only if it meets every deadline, because a greedy plan may miss one.
func (b *Book) Advance(now int64, ended []int64, facts []Fact) []Fact {
	b.advance(now)
	vacated := never
	slices.Sort(ended)
	for _, id := range ended {
		e := b.byID[id]
		if e == nil || !e.runs {
			panic("timetable: a job ended that was not running")
		}
		facts = append(facts, Fact{now, id, Ended})
		vacated = vacated.hull(b.vacate(e, now))
	}
	facts = b.overruns(now, vacated, facts)
	if vacated != never {
		b.pull(now, vacated)
	}
	if len(ended) > 0 {
		b.refreshEnds()
	}
	return b.startDue(facts)
}

// advance moves the book to now.
func (b *Book) advance(now int64) {
	if now < b.now || now > b.Next() {
		panic("timetable: advanced to a second before the last or after the next event")
	}
	b.now = now
	if len(b.steps.at) > 4*(len(b.plan)+len(b.running))+64 {
		b.steps.trim(now)
	}
}

// vacate ends a running job and returns the interval that it frees, or never if the job ended
// at its estimated end.
func (b *Book) vacate(e *entry, now int64) interval {
	vacated := never
	if e.end > now {
		b.steps.add(now, e.end, e.Nodes)
		vacated = interval{now, e.end}
	}
	b.stop(e, now)
	b.drop(e)
	b.version++
	return vacated
}

// overruns extends or kills the jobs that exceed their estimates, in order of id.
func (b *Book) overruns(now int64, vacated interval, facts []Fact) []Fact {
	if b.nextEnd > now {
		return facts
	}
	for i := 0; i < len(b.running); {
		e := b.running[i]
		switch {
		case e.end > now:
			i++
		case b.config.Overrun == Extend && b.extend(e, now, vacated):
			facts = append(facts, Fact{now, e.ID, Extended})
			i++
		default:
			facts = append(facts, Fact{now, e.ID, Killed})
			b.vacate(e, now)
		}
	}
	b.refreshEnds()
	return facts
}

// extend gives e more time if the plan then still meets every deadline without e's nodes. It
// does not check the deadline of e itself, which is late because of its own estimate.
func (b *Book) extend(e *entry, now int64, vacated interval) bool {
	taken := interval{now, now + b.config.extension(e.span)}
	t := b.whole(now)
	t.steps.add(taken.from, taken.to, -e.Nodes)
	if !b.replan(t, taken, b.searched(vacated)) {
		return false
	}
	b.adopt(t)
	b.usage.ending += int64(e.Nodes) * (taken.to - e.end)
	e.end = taken.to
	b.version++
	return true
}

// pull rebuilds the plan after vacated became free. If the new plan misses a deadline, it
// keeps the old plan.
func (b *Book) pull(now int64, vacated interval) {
	t := b.whole(now)
	if b.replan(t, never, b.searched(vacated)) {
		b.adopt(t)
	} else {
		b.canonical = false
	}
	b.version++
}

// whole prepares the book's trial to place all planned jobs again, and returns it.
func (b *Book) whole(now int64) *trial {
	t := &b.trial
	t.quote, t.joins = 0, false
	t.begin(b, now, 0)
	return t
}

// searched returns the interval in which to search for earlier starts after vacated became
// free.
func (b *Book) searched(vacated interval) interval {
	if !b.canonical {
		return always
	}
	return vacated
}

// startDue starts the jobs planned for the present second, in key order.
func (b *Book) startDue(facts []Fact) []Fact {
	if b.nextStart > b.now {
		return facts
	}
	k := 0
	for i, e := range b.plan {
		if slot := b.slots[i]; slot.from > b.now {
			b.plan[k], b.slots[k] = e, slot
			k++
			continue
		}
		e.end = b.now + e.span
		b.usage.planned -= int64(e.Nodes) * e.span
		b.run(e, b.now)
		b.nextEnd = min(b.nextEnd, e.end)
		facts = append(facts, Fact{b.now, e.ID, Started})
	}
	clear(b.plan[k:])
	b.plan, b.slots = b.plan[:k], b.slots[:k]
	b.version++
	b.refreshStarts()
	return facts
}
