package timetable

// A trial is a plan that has not been adopted. It places plan[first:] again after a change,
// possibly with a new job.
type trial struct {
	quote uint64 // serial number of the trial's quote, or 0

	first int        // index of the first job placed again
	slots []interval // slots of plan[first:]; new for the jobs placed so far, old for the other jobs
	steps profile    // nodes left free by all jobs, except jobs that are lifted and not placed yet

	lifted  []bool   // whether each slot was removed from steps
	cleared interval // interval in which jobs that are not placed yet are lifted
	now     int64

	joins  bool  // whether there is a new job
	as     entry // the new job
	slot   interval
	at     int  // index of the new job in the plan
	beside bool // whether no other job moves; slots and steps are then unset
	forced bool // whether a rebuild would give a different plan

	zeta, zetaAll int64 // total lost laxity (eq. 3.4) of reservations and of all jobs

	brief          bool // whether only finish places jobs without a deadline
	joined         bool
	done           int      // number of slots processed
	taken, vacated interval // hulls of the changes so far
}

// begin prepares t to place the jobs from index first on again.
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

// replan places the jobs from t.first on again in key order, each as early as possible,
// together with the new job if there is one. It reports whether every deadline is met; if not,
// t is invalid.
//
// Taken and vacated are the hulls of the changes to t.steps since each of these jobs was last
// planned as early as possible. A job moves only if its slot overlaps taken or if an earlier
// start overlaps vacated. Other jobs are skipped. The hulls grow with each move.
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
			return true // the remaining jobs have no deadlines
		}
		if !t.putBack(b, i, e) {
			return false
		}
	}
	return !t.joins || t.joined || t.join(b, len(t.slots))
}

// finish places the jobs that a brief trial omitted.
func (b *Book) finish(t *trial) {
	if t.brief && !t.beside {
		t.brief = false
		b.replan(t, t.taken, t.vacated)
	}
}

// putBack places e, the i-th job, again. It returns false if its deadline is missed.
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

// place returns the new slot of the i-th job. This is an earlier slot that overlaps vacated or,
// if there is none and taken overlaps the old slot, the first free slot from the old start on.
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

// join places the new job before the i-th. It returns false if its deadline is missed.
func (t *trial) join(b *Book, i int) bool {
	e := &t.as
	s := t.search(b, i, e, interval{max(t.now, e.Earliest), e.latest() + 1})
	t.slot = interval{s, s + e.span}
	t.steps.add(t.slot.from, t.slot.to, -e.Nodes)
	t.taken = t.taken.hull(t.slot)
	t.joined = true
	return s <= e.latest()
}

// latest returns the last start at which e meets its deadline.
func (e *entry) latest() int64 {
	if e.Deadline == Forever {
		return Forever - 1
	}
	return e.Deadline - e.span
}

// search returns the first of the given starts at which e fits next to the jobs before the i-th, or
// a time after all of them if there is none. During the search, it lifts later jobs that overlap
// the slots it tries.
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

// lift removes the jobs from the i-th on that overlap span from the steps. The cleared interval
// doubles each time, so lift is called rarely. If it removes many jobs, it merges the remaining
// steps.
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

// count adds a changed start to zeta (eqs. 3.3 and 3.4), in which deadline and runtime cancel
// out. Jobs that start by the arrival of the new job are not in E.
func (t *trial) count(e *entry, was, is int64) {
	if was <= t.as.Arrival {
		return
	}
	t.zetaAll += is - was
	if e.Kind == Advance {
		t.zeta += is - was
	}
}

// adopt makes a feasible trial the plan, without the trial's new job if there is one.
func (b *Book) adopt(t *trial) {
	copy(b.slots[t.first:], t.slots)
	b.steps, t.steps = t.steps, b.steps
	b.canonical = true
	b.refreshStarts()
}
