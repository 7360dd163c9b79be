package timetable

import (
	"errors"
	"fmt"
)

// Reasons for which a commitment or a cancellation is not made.
var (
	ErrStale      = errors.New("the book has changed since the quote")
	ErrInfeasible = errors.New("not every deadline can be kept")
	ErrUnknown    = errors.New("no such job in the book")
)

// Commit accepts the job that q was given for and appends what follows at once
// to facts: the jobs now due to start. It returns ErrStale, and nothing has
// changed, if now is not the second of the quote or the book has changed since;
// ErrInfeasible if q is a refusal.
func (b *Book) Commit(now int64, q Quote, facts []Fact) ([]Fact, error) {
	if q.Feasible && now != q.At {
		return facts, fmt.Errorf("timetable: commit job %d: %w", q.Job.ID, ErrStale)
	}
	if err := b.recall(&q); err != nil {
		return facts, fmt.Errorf("timetable: commit job %d: %w", q.Job.ID, err)
	}
	b.now = now
	t := &b.trial
	e := b.newEntry(t.as.Job, t.as.span)
	e.start = t.as.start
	if t.beside {
		b.steps.add(e.start, e.start+e.span, -e.Nodes)
		b.canonical = b.canonical && !t.forced
	} else {
		b.adopt(t)
	}
	b.insert(t.at, e)
	return b.startDue(facts), nil
}

// Cancel takes a job out of the book, whether it runs or not, and appends what
// follows to facts. It returns ErrUnknown if there is no such job.
func (b *Book) Cancel(now int64, id int64, facts []Fact) ([]Fact, error) {
	mustBeBetween(b.now, now, b.Next())
	b.bring(now)
	e := b.byID[id]
	if e == nil {
		return facts, fmt.Errorf("timetable: cancel job %d: %w", id, ErrUnknown)
	}
	facts = append(facts, Fact{At: now, Job: id, What: Cancelled})
	g := noGap
	if e.runs {
		b.vacate(e, now, &g)
	} else {
		g.widen(e.start, e.start+e.span)
		b.steps.add(e.start, e.start+e.span, e.Nodes)
		b.remove(b.position(&e.Job))
		b.drop(e)
	}
	b.pull(now, g)
	b.refreshStarts()
	b.refreshEnds()
	return b.startDue(facts), nil
}
