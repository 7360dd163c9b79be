package timetable

// A trial is a plan that has not been adopted: plan[first:], and perhaps a new
// job among it, put back after something changed.
type trial struct {
	quote uint64 // serial number of the quote that it stands for, or 0

	first int        // index of the first job put back
	slots []interval // of plan[first:]: new where put back, old where not yet
	steps profile    // beside all jobs but those lifted and not yet put back

	lifted  []bool   // one per slot: it was taken out of steps
	cleared interval // jobs not yet put back that meet it are lifted
	now     int64

	joins  bool  // there is a new job
	as     entry // the new job
	slot   interval
	at     int  // its index in the plan
	beside bool // nothing else moves, and slots and steps are not filled in
	forced bool // the new job is beside a plan that a rebuild would not give

	zeta, zetaAll int64 // eq. 3.4, over reservations and over all jobs

	brief          bool // what waits without a deadline is put back by finish alone
	joined         bool
	done           int      // slots gone through
	taken, vacated interval // hulls of what has changed by then
}

// begin makes t about to put back the jobs from index first on.
func (t *trial) begin(b *Book, now int64, first int) {
	t.now, t.first = now, first
	t.slots = append(t.slots[:0], b.slots[first:]...)
	t.steps.copyFrom(&b.steps)
	if cap(t.lifted) < len(t.slots) {
		t.lifted = make([]bool, 2*len(t.slots))
	}
	t.lifted = t.lifted[:len(t.slots)]
	clear(t.lifted)
	t.cleared = never
	t.zeta, t.zetaAll = 0, 0
	t.brief, t.joined, t.done = false, false, 0
}

// replan puts the jobs from t.first on back in key order, each as early as it
// can be, with the new job in its place if there is one. It reports whether
// every deadline is met; if not, t is void.
//
// Taken and vacated are hulls of what has changed in t.steps since each of
// these jobs was as early as it could be. A job moves only if its slot meets
// what was taken, or an earlier start meets what was vacated; all others stay
// where they are unseen, and the hulls grow with each that moves.
func (b *Book) replan(t *trial, taken, vacated interval) bool {
	t.taken, t.vacated = taken, vacated
	for ; t.done < len(t.slots); t.done++ {
		i := t.done
		if t.joins && !t.joined && t.first+i == t.at {
			if !t.join(b, i) {
				return false
			}
		}
		e := b.plan[t.first+i]
		if t.brief && e.Deadline == Forever && t.joined {
			return true // no deadline follows
		}
		if !t.putBack(b, i, e) {
			return false
		}
	}
	return !t.joins || t.joined || t.join(b, len(t.slots))
}

// finish puts back what a brief trial left.
func (b *Book) finish(t *trial) {
	if t.brief && !t.beside {
		t.brief = false
		b.replan(t, t.taken, t.vacated)
	}
}

// putBack puts the i-th job, e, back. It reports false if its deadline is missed.
func (t *trial) putBack(b *Book, i int, e *entry) bool {
	old := t.slots[i]
	slot := t.place(b, i, t.taken, t.vacated)
	if slot == old && !t.lifted[i] {
		return true
	}
	if !t.lifted[i] {
		t.steps.add(old.from, old.to, e.Nodes)
	}
	t.steps.add(slot.from, slot.to, -e.Nodes)
	if slot == old {
		return true
	}
	t.taken, t.vacated = t.taken.hull(slot), t.vacated.hull(old)
	t.count(e, old.from, slot.from)
	t.slots[i] = slot
	return slot.to <= e.Deadline
}

// place returns where the i-th job goes: to an earlier start at which it meets
// what was vacated, else from its old one on if that was taken.
func (t *trial) place(b *Book, i int, taken, vacated interval) interval {
	old := t.slots[i]
	span := old.to - old.from
	earlier := interval{max(t.now, vacated.from-span+1), min(old.from, vacated.to)}
	if earlier.from < earlier.to {
		e := b.plan[t.first+i]
		earlier.from = max(earlier.from, e.Earliest)
		if s := t.search(b, i, e, earlier); s < earlier.to {
			return interval{s, s + span}
		}
	}
	if old.meets(taken) {
		e := b.plan[t.first+i]
		s := t.search(b, i, e, interval{old.from, e.latest() + 1})
		return interval{s, s + span}
	}
	return old
}

// join places the new job, before the i-th. It reports false if its deadline is
// missed.
func (t *trial) join(b *Book, i int) bool {
	e := &t.as
	s := t.search(b, i, e, interval{max(t.now, e.Earliest), e.latest() + 1})
	t.slot = interval{s, s + e.span}
	t.steps.add(t.slot.from, t.slot.to, -e.Nodes)
	t.taken = t.taken.hull(t.slot)
	t.joined = true
	return s <= e.latest()
}

// latest returns the last start with which e meets its deadline.
func (e *entry) latest() int64 {
	if e.Deadline == Forever {
		return Forever - 1
	}
	return e.Deadline - e.span
}

// search returns the first of the given starts at which e fits beside the jobs
// before the i-th, or an instant after them if there is none. It clears ahead
// of itself as far as it has come.
func (t *trial) search(b *Book, i int, e *entry, starts interval) int64 {
	from := starts.from
	for from < starts.to {
		t.lift(b, i, interval{from, from + e.span})
		to := min(starts.to, t.cleared.to-e.span+1)
		s := t.steps.fit(from, to, e.span, e.Nodes)
		if s < to {
			return s
		}
		from = to
	}
	return from
}

// lift takes the jobs from the i-th on that meet span out of the steps. What is
// cleared doubles each time, so that this is rare. Where many go, the steps that
// they leave behind are merged.
func (t *trial) lift(b *Book, i int, span interval) {
	was := t.cleared
	if was.from <= span.from && span.to <= was.to {
		return
	}
	c := was.hull(span)
	if was != never {
		width := was.to - was.from
		if c.from < was.from {
			c.from = max(t.now, c.from-width)
		}
		if c.to > was.to {
			c.to += width
		}
	}
	t.cleared = c
	count := 0
	for k := i; k < len(t.slots); k++ {
		if s := t.slots[k]; s.meets(c) && !t.lifted[k] {
			t.lifted[k] = true
			t.steps.add(s.from, s.to, b.plan[t.first+k].Nodes)
			count++
		}
	}
	if count > len(t.steps.at)/8 {
		t.steps.trim(t.now)
	}
}

// count adds a changed start to zeta (eqs. 3.3 and 3.4): deadline and runtime
// cancel out. What was to start by the arrival of the new job is not in E.
func (t *trial) count(e *entry, was, is int64) {
	if was <= t.as.Arrival {
		return
	}
	t.zetaAll += is - was
	if e.Kind == Advance {
		t.zeta += is - was
	}
}

// adopt makes a feasible trial the plan, without its new job if there is one.
func (b *Book) adopt(t *trial) {
	copy(b.slots[t.first:], t.slots)
	b.steps, t.steps = t.steps, b.steps
	b.canonical = true
	b.refreshStarts()
}
