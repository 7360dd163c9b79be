package timetable

// Reasons why a book refuses a job.
const (
	Invalid = "the job is not valid"
	Known   = "a job of this id is in the book"
	TooWide = "it asks for more nodes than the cluster has"
	TooLong = "it cannot end by its deadline even if it starts at once"
	NoPlan  = "no plan with it keeps every deadline"
)

// A Quote is a book's answer to a request (the report of the Match Advisor). It is not binding.
// It is valid only at the second of the request and only while the book does not change.
type Quote struct {
	Job        Job
	Feasible   bool
	Reason     string // reason for the refusal; "" if feasible
	Start      int64  // s; this field and the next three are valid only if feasible
	Completion int64  // s + e, where e is the estimate on this cluster
	Zeta       int64  // total laxity that reservations that have not started would lose (eq. 3.4); may be negative
	ZetaAll    int64  // the same including on-demand jobs; 0 if the book is Brief

	Speed     int64 // speed of the cluster, in permille
	Nodes     int64 // N, the nodes of the cluster
	Busy      int64 // nodes in use at this second
	Executed  int64 // node-seconds done since the origin
	Committed int64 // estimated remaining node-seconds of running and planned jobs

	At      int64 // second of the quote
	version uint64
	serial  uint64
}

// Reading is a definition of the utilization of a cluster.
type Reading int8

// The definitions of utilization.
const (
	Cumulative Reading = iota // eq. 4.2 up to now; 0 at the origin
	Instant                   // nodes in use / all nodes
	Committed                 // estimated remaining seconds of work per node; may exceed 1
)

// Utilization returns the exact utilization of the cluster, excluding the job.
func (q *Quote) Utilization(r Reading) Ratio {
	switch {
	case r == Instant:
		return Ratio{q.Busy, q.Nodes}
	case r == Committed:
		return Ratio{q.Committed, q.Nodes}
	case q.At == 0:
		return Ratio{0, 1}
	}
	return Ratio{q.Executed, q.Nodes * q.At}
}

// ask returns a quote without a plan and reports whether planning is worthwhile.
func (b *Book) ask(now int64, j *Job) (Quote, bool) {
	mustBeBetween(b.now, now, b.Next())
	q := Quote{
		Job: *j, Speed: b.config.Speed, Nodes: int64(b.config.Nodes),
		Busy: b.usage.busy, Executed: b.usage.executed(now), Committed: b.usage.committed(now),
		At: now, version: b.version,
	}
	q.Reason = refuse(j, &b.config, now)
	if q.Reason == "" && b.byID[j.ID] != nil {
		q.Reason = Known
	}
	return q, q.Reason == ""
}

// mustBeBetween panics unless now is between the book's present and its next event, inclusive.
// A caller must process all events that are due before it requests a quote.
func mustBeBetween(present, now, next int64) {
	if now != present && (now < present || now >= next) {
		panic("timetable: quote for a second to which the book was not advanced")
	}
}

// refuse returns the reason to refuse j without planning, or "".
func refuse(j *Job, c *Config, now int64) string {
	switch {
	case j.Validate() != nil:
		return Invalid
	case j.Nodes > c.Nodes:
		return TooWide
	case max(now, j.Earliest)+Span(j.Estimate, c.Speed) > j.Deadline:
		return TooLong
	}
	return ""
}

// Quote returns the effects of accepting j at now. It does not change the book.
func (b *Book) Quote(now int64, j Job) Quote {
	q, ok := b.ask(now, &j)
	if !ok {
		return q
	}
	if q.Feasible = b.try(now, &j); !q.Feasible {
		q.Reason = NoPlan
		return q
	}
	t := &b.trial
	b.quotes++
	q.serial, t.quote = b.quotes, b.quotes
	q.Start, q.Completion = t.slot.from, t.slot.to
	q.Zeta, q.ZetaAll = t.zeta, t.zetaAll
	if b.config.Brief {
		q.ZetaAll = 0
	}
	return q
}

// try plans j in b.trial and reports whether the book would accept j.
func (b *Book) try(now int64, j *Job) bool {
	t := &b.trial
	t.quote = 0
	t.as = entry{Job: *j, span: Span(j.Estimate, b.config.Speed)}
	t.at = b.position(j)
	t.joins, t.forced = true, false
	if t.beside = b.tryBeside(t, now); t.beside {
		return true
	}
	first, vacated := t.at, never
	if !b.canonical {
		first, vacated = 0, always
	}
	t.begin(b, now, first)
	t.brief = b.config.Brief
	if b.replan(t, never, vacated) {
		return true
	}
	return b.config.Admission == EDFInsert && b.tryInsert(t, now)
}

// tryBeside reports whether j can be placed without moving other jobs: either because it is last in
// key order, or because enough nodes are free at its earliest start.
func (b *Book) tryBeside(t *trial, now int64) bool {
	if !b.canonical {
		return false
	}
	e := &t.as
	s := max(now, e.Earliest)
	if !b.steps.fits(s, e.span, e.Nodes) {
		if t.at < len(b.plan) {
			return false
		}
		s = b.steps.fit(s, Forever, e.span, e.Nodes)
	}
	t.slot = interval{s, s + e.span}
	t.zeta, t.zetaAll = 0, 0
	return s <= e.latest()
}

// tryInsert places j in the earliest hole of the current plan.
func (b *Book) tryInsert(t *trial, now int64) bool {
	e := &t.as
	s := b.steps.fit(max(now, e.Earliest), Forever, e.span, e.Nodes)
	t.slot = interval{s, s + e.span}
	t.zeta, t.zetaAll = 0, 0
	t.beside, t.forced = true, true
	return t.slot.from <= e.latest()
}

// PlanIf appends to out the starts that would be planned if q were committed, in key order.
func (b *Book) PlanIf(q *Quote, out []Start) ([]Start, error) {
	if err := b.recall(q); err != nil {
		return out, err
	}
	t := &b.trial
	for i, e := range b.plan {
		if i == t.at {
			out = append(out, Start{t.as.ID, t.slot.from})
		}
		slot := b.slots[i]
		if !t.beside && i >= t.first {
			slot = t.slots[i-t.first]
		}
		out = append(out, Start{e.ID, slot.from})
	}
	if t.at == len(b.plan) {
		out = append(out, Start{t.as.ID, t.slot.from})
	}
	return out, nil
}

// recall restores the trial of q.
func (b *Book) recall(q *Quote) error {
	switch {
	case !q.Feasible:
		return ErrInfeasible
	case q.version != b.version:
		return ErrStale
	case q.serial != b.trial.quote:
		if !b.try(q.At, &q.Job) {
			panic("timetable: a quote cannot be repeated")
		}
		b.trial.quote = q.serial
	}
	b.finish(&b.trial)
	return nil
}
