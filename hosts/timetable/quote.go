package timetable

// Reasons for which a book does not take a job.
const (
	Invalid = "the job is not valid"
	Known   = "a job of this id is in the book"
	TooWide = "it asks for more nodes than the cluster has"
	TooLong = "it cannot end by its deadline even if it starts at once"
	NoPlan  = "no plan with it keeps every deadline"
)

// A Quote is a book's answer to a job: the Match Advisor's report. It binds
// nobody; it is valid at the second for which it was asked, and only while the
// book stays as it is.
type Quote struct {
	Job        Job
	Feasible   bool
	Reason     string // why not, "" if feasible
	Start      int64  // s; if not feasible, neither this nor the next three mean anything
	Completion int64  // s + e, the estimate
	Zeta       int64  // laxity that reservations still to start would lose in all, eq. 3.4; may be negative
	ZetaAll    int64  // the same with the on-demand jobs; 0 of a Brief book

	Speed     int64 // of the cluster, permille
	Nodes     int64 // N of the cluster
	Busy      int64 // nodes in use at this second
	Executed  int64 // node-seconds done since the origin
	Committed int64 // node-seconds that running and planned jobs are estimated still to take

	At      int64 // the second for which it was asked
	version uint64
	serial  uint64
}

// Reading says what is understood by the utilization of a cluster.
type Reading int8

// Readings.
const (
	Cumulative Reading = iota // eq. 4.2 up to now; 0 at the origin
	Instant                   // nodes in use, of all
	Committed                 // estimated seconds of work left per node: not bounded by 1
)

// Utilization returns the cluster's utilization without the job, exactly.
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

// ask returns the quote without its plan, and whether a plan is worth trying.
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

// mustBeBetween panics unless now is the book's present or lies between it and
// the next event: whoever asks at a second sees what is due by then as done.
func mustBeBetween(present, now, next int64) {
	if now != present && (now < present || now >= next) {
		panic("timetable: quote for a second to which the book was not advanced")
	}
}

// refuse returns why j can be refused without a plan, or "".
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

// Quote returns what accepting j at now would mean. The book is as it was.
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

// try fills in b.trial with j in the plan and reports whether the book would
// accept it.
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

// tryBeside reports whether j can be placed without a search for room before
// others: it is last of all, or free to start as early as it may.
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

// tryInsert puts j into the earliest hole of the plan as it is.
func (b *Book) tryInsert(t *trial, now int64) bool {
	e := &t.as
	s := b.steps.fit(max(now, e.Earliest), Forever, e.span, e.Nodes)
	t.slot = interval{s, s + e.span}
	t.zeta, t.zetaAll = 0, 0
	t.beside, t.forced = true, true
	return t.slot.from <= e.latest()
}

// PlanIf appends the starts planned if q were committed to out, in key order.
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

// recall brings back the trial that q stands for.
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
