package timetable

// A trial is a plan that has not been adopted: plan[first:], and perhaps a new
// job among it, put back after something changed.
type trial struct {
	quote uint64 // serial number of the quote that it stands for, or 0

	first  int     // index of the first job put back
	starts []int64 // of plan[first:], as long
	steps  profile

	joins  bool  // there is a new job
	as     entry // the new job and its start
	at     int   // its index in the plan
	beside bool  // nothing moves and steps is not filled in
	forced bool  // the new job is beside a plan that a rebuild would not give

	zeta, zetaAll int64 // eq. 3.4, over reservations and over all jobs
}

// A gap is the hull of all that was vacated since the plan was canonical. No
// job can start earlier than planned without touching it.
type gap struct{ from, to int64 }

// Where nothing was vacated, and where anything may have been.
var (
	noGap   = gap{Forever, 0}
	wideGap = gap{0, Forever}
)

// widen adds [from, to) to g.
func (g *gap) widen(from, to int64) {
	g.from, g.to = min(g.from, from), max(g.to, to)
}

// replan takes plan[t.first:] out of t.steps and puts it back in key order,
// with the new job in its place if there is one. It reports whether every
// deadline is met; if not, t is void.
//
// The prefix, what runs and g must be so that each job outside g is already as
// early as it can be: then only g, and what those put back vacate in turn, is
// searched for an earlier start.
func (b *Book) replan(t *trial, now int64, g gap) bool {
	suffix := b.plan[t.first:]
	for _, e := range suffix {
		t.steps.add(e.start, e.start+e.span, e.Nodes)
	}
	t.starts = t.starts[:0]
	t.zeta, t.zetaAll = 0, 0
	for i, e := range suffix {
		if t.joins && t.first+i == t.at && !t.join(now) {
			return false
		}
		s := t.earliest(e, now, g)
		if s != e.start {
			if e.late(s) {
				return false
			}
			g.widen(e.start, e.start+e.span)
			t.moved(e, now, s)
		}
		t.steps.add(s, s+e.span, -e.Nodes)
		t.starts = append(t.starts, s)
	}
	return !t.joins || t.at < len(b.plan) || t.join(now)
}

// earliest returns where e goes: into g if there is room before its old start,
// else from its old start on.
func (t *trial) earliest(e *entry, now int64, g gap) int64 {
	from := max(now, e.Earliest, g.from-e.span+1)
	limit := min(e.start, g.to)
	if from < limit {
		if s := t.steps.fit(from, limit, e.span, e.Nodes); s < limit {
			return s
		}
	}
	return t.steps.fit(e.start, Forever, e.span, e.Nodes)
}

// join places the new job and reports whether it meets its deadline.
func (t *trial) join(now int64) bool {
	e := &t.as
	e.start = t.steps.fit(max(now, e.Earliest), Forever, e.span, e.Nodes)
	t.steps.add(e.start, e.start+e.span, -e.Nodes)
	return !e.late(e.start)
}

// moved counts a changed start in zeta (eqs. 3.3 and 3.4): deadline and runtime
// cancel out, so it is the change of the start. What starts at now already is
// not in E.
func (t *trial) moved(e *entry, now, s int64) {
	if e.start <= now {
		return
	}
	t.zetaAll += s - e.start
	if e.Kind == Advance {
		t.zeta += s - e.start
	}
}

// adopt makes a feasible trial without a new job the plan.
func (b *Book) adopt(t *trial) {
	for i, e := range b.plan[t.first:] {
		e.start = t.starts[i]
	}
	b.steps, t.steps = t.steps, b.steps
	b.canonical = true
	b.refreshStarts()
}
