package reservations

import (
	"math"

	"bourse/hosts/timetable"
)

// A planner is the common interface of [timetable.Book] and [timetable.Preemptive].
type planner interface {
	Next() int64
	Nodes(id int64) []int32
	Quote(now int64, j timetable.Job) timetable.Quote
	Commit(now int64, q timetable.Quote, facts []timetable.Fact) ([]timetable.Fact, error)
	Advance(now int64, ended []int64, facts []timetable.Fact) []timetable.Fact
}

// A cluster is a book with the true runtimes of its jobs, which the book learns only as
// jobs end.
type cluster struct {
	planner
	speed int64
	jobs  map[int64]*truth // jobs in the book
}

// A truth is the true course of a job.
type truth struct {
	left int64 // time in seconds on its cluster when it last started or resumed
	end  int64 // end if it is running, otherwise Forever
}

// open returns an empty cluster.
func open(c timetable.Config, preempt bool) (*cluster, error) {
	if preempt {
		p, err := timetable.NewPreemptive(c, 0, 0, nil)
		if err != nil {
			return nil, err
		}
		return &cluster{p, p.Speed(), make(map[int64]*truth)}, nil
	}
	b, err := timetable.New(c)
	if err != nil {
		return nil, err
	}
	return &cluster{b, b.Speed(), make(map[int64]*truth)}, nil
}

// accept commits the job for which q was given. Its true runtime is runtime seconds at
// reference speed.
func (c *cluster) accept(now int64, q timetable.Quote, runtime int64, facts []timetable.Fact) ([]timetable.Fact, error) {
	facts, err := c.Commit(now, q, facts)
	if err != nil {
		return facts, err
	}
	c.jobs[q.Job.ID] = &truth{timetable.Span(runtime, c.speed), timetable.Forever}
	c.learn(facts)
	return facts, nil
}

// next returns the second of the earliest event, or Forever.
func (c *cluster) next() int64 {
	next := c.Next()
	for _, t := range c.jobs {
		next = min(next, t.end)
	}
	return next
}

// pass advances the cluster to its next second and appends the events to facts.
func (c *cluster) pass(now int64, facts []timetable.Fact) []timetable.Fact {
	var ended []int64
	for id, t := range c.jobs {
		if t.end == now {
			ended = append(ended, id)
		}
	}
	facts = c.Advance(now, ended, facts) // Advance sorts the ended jobs
	c.learn(facts)
	return facts
}

// learn updates the true ends of jobs from the events of the book.
func (c *cluster) learn(facts []timetable.Fact) {
	for _, f := range facts {
		t := c.jobs[f.Job]
		switch f.What {
		case timetable.Started, timetable.Resumed:
			t.end = f.At + t.left
		case timetable.Suspended:
			t.left, t.end = t.end-f.At, math.MaxInt64
		case timetable.Ended, timetable.Killed:
			delete(c.jobs, f.Job)
		}
	}
}
