package timetable

import (
	"errors"
	"fmt"
)

// Reasons why a commitment or a cancellation fails.
var (
	ErrStale      = errors.New("the book has changed since the quote")
	ErrInfeasible = errors.New("not every deadline can be kept")
	ErrUnknown    = errors.New("no such job in the book")
)

// Commit accepts the job of q. It appends to facts the starts of the jobs that are now due. It
// returns ErrStale and changes nothing if now is not the second of the quote or if the book has
// changed since. It returns ErrInfeasible if q is a refusal.
func (b *Book) Commit(now int64, q Quote, facts []Fact) ([]Fact, error) {
	if q.Feasible && now != q.At {
		return facts, fmt.Errorf("timetable: commit job %d: %w", q.Job.ID, ErrStale)
	}
	if err := b.recall(&q); err != nil {
		return facts, fmt.Errorf("timetable: commit job %d: %w", q.Job.ID, err)
	}
	b.now = now
	t := &b.trial
	if t.beside {
		b.steps.add(t.slot.from, t.slot.to, -t.as.Nodes)
		b.canonical = b.canonical && !t.forced
	} else {
		b.adopt(t)
	}
	b.insert(t.at, b.newEntry(t.as.Job, t.as.span), t.slot)
	return b.startDue(facts), nil
}

// Cancel removes a running or planned job from the book and appends the resulting facts to
// facts. It returns ErrUnknown if there is no such job.
func (b *Book) Cancel(now int64, id int64, facts []Fact) ([]Fact, error) {
	mustBeBetween(b.now, now, b.Next())
	b.advance(now)
	e := b.byID[id]
	if e == nil {
		return facts, fmt.Errorf("timetable: cancel job %d: %w", id, ErrUnknown)
	}
	facts = append(facts, Fact{At: now, Job: id, What: Cancelled})
	var vacated interval
	if e.runs {
		vacated = b.vacate(e, now)
	} else {
		vacated = b.remove(b.position(&e.Job))
	}
	b.pull(now, vacated)
	b.refreshStarts()
	b.refreshEnds()
	return b.startDue(facts), nil
}
