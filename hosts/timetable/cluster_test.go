package timetable

import (
	"fmt"
	"math"
)

// planner is the common interface of [Book] and [Preemptive].
type planner interface {
	Config() Config
	Version() uint64
	Next() int64
	Nodes(id int64) []int32
	Instants(out []int64) []int64
	Quote(now int64, j Job) Quote
	Commit(now int64, q Quote, facts []Fact) ([]Fact, error)
	Cancel(now, id int64, facts []Fact) ([]Fact, error)
	Advance(now int64, ended []int64, facts []Fact) []Fact
}

// A Cluster is a book together with the true runtimes of its jobs, which the book learns only
// when jobs end. It plays the role of contracts/broker and the hosts.
type Cluster struct {
	book  planner
	truth []truth // true runtimes of the jobs in the book, in order of acceptance
	ended []int64 // scratch
}

// truth is the true runtime of a job.
type truth struct {
	id   int64
	left int64 // remaining seconds on this cluster at time since
	end  int64 // end time if the job runs, otherwise Forever
}

// NewCluster returns an empty cluster.
func NewCluster(c Config) (*Cluster, error) {
	b, err := New(c)
	return &Cluster{book: b}, err
}

// NewPreemptiveCluster returns an empty cluster that suspends and resumes.
func NewPreemptiveCluster(c Config) (*Cluster, error) {
	p, err := NewPreemptive(c, 0, 0, nil)
	return &Cluster{book: p}, err
}

// Speed returns the cluster's speed in permille of the reference speed.
func (c *Cluster) Speed() int64 { return c.book.Config().Speed }

// Nodes returns the nodes of a running job, as [Book.Nodes] does.
func (c *Cluster) Nodes(id int64) []int32 { return c.book.Nodes(id) }

// Quote returns the effects of accepting j at now. It changes nothing.
func (c *Cluster) Quote(now int64, j Job) Quote { return c.book.Quote(now, j) }

// Commit accepts the job of q, whose true runtime is runtime >= 1 seconds at reference speed,
// and appends the resulting facts to facts. It returns [ErrStale] or [ErrInfeasible] as
// [Book.Commit] does.
func (c *Cluster) Commit(now int64, q Quote, runtime int64, facts []Fact) ([]Fact, error) {
	if runtime < 1 || runtime > Horizon {
		return facts, fmt.Errorf("timetable: commit job %d: runtime %d, want 1 to %d", q.Job.ID, runtime, int64(Horizon))
	}
	from, version := len(facts), c.book.Version()
	facts, err := c.book.Commit(now, q, facts)
	if err != nil {
		return facts, err
	}
	c.grown(version)
	c.truth = append(c.truth, truth{q.Job.ID, Span(runtime, c.Speed()), Forever})
	c.learn(facts[from:])
	return facts, nil
}

// Cancel removes a job from the book, as [Book.Cancel] does.
func (c *Cluster) Cancel(now, id int64, facts []Fact) ([]Fact, error) {
	from, version := len(facts), c.book.Version()
	facts, err := c.book.Cancel(now, id, facts)
	if err == nil {
		c.grown(version)
	}
	c.learn(facts[from:])
	return facts, err
}

// Next returns the second of the next event, or Forever if there is none.
func (c *Cluster) Next() int64 {
	next := c.book.Next()
	for i := range c.truth {
		next = min(next, c.truth[i].end)
	}
	return next
}

// Advance processes all events that are due by now and appends them to facts in order.
func (c *Cluster) Advance(now int64, facts []Fact) []Fact {
	for t := c.Next(); t <= now && t < math.MaxInt64; t = c.Next() {
		c.ended = c.ended[:0]
		for i := range c.truth {
			if c.truth[i].end == t {
				c.ended = append(c.ended, c.truth[i].id)
			}
		}
		from, version := len(facts), c.book.Version()
		facts = c.book.Advance(t, c.ended, facts)
		if len(facts) > from {
			c.grown(version)
		}
		c.learn(facts[from:])
	}
	return facts
}

// grown panics unless the book's version has increased since: different states must have
// different versions.
func (c *Cluster) grown(since uint64) {
	if v := c.book.Version(); v <= since {
		panic(fmt.Sprintf("timetable: version %d after %d", v, since))
	}
}

// learn updates the true ends after facts of the book.
func (c *Cluster) learn(facts []Fact) {
	for _, f := range facts {
		i := 0
		for c.truth[i].id != f.Job {
			i++
		}
		tr := &c.truth[i]
		switch f.What {
		case Started, Resumed:
			tr.end = f.At + tr.left
		case Suspended:
			tr.left, tr.end = tr.end-f.At, Forever
		case Ended, Killed, Cancelled:
			c.truth = append(c.truth[:i], c.truth[i+1:]...)
		}
	}
}
