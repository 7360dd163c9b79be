package timetable

import (
	"errors"
	"fmt"
	"slices"
	"sort"
)

// A Preemptive is the plan of one cluster that can suspend jobs and resume them on any nodes at
// no cost. At each release, completion and admission, it allocates nodes to the released jobs
// in key order and skips jobs that do not fit. It accepts a job if a simulation of these rules
// meets all deadlines.
//
// A job has no fixed set of nodes and no planned start. In a quote, its start is s = C - e,
// where C is its completion. Wrong estimates void all guarantees: a job that reaches its
// estimate is extended unconditionally, or killed.
type Preemptive struct {
	config   Config
	version  uint64
	now      int64
	executed int64 // node-seconds done so far
	jobs     []share
	next     int64

	before, after forecast // scratch
	trial         []share
}

// A share is a job in a preemptive book.
type share struct {
	Job
	span  int64 // e, the estimate in seconds on this cluster
	left  int64 // remaining estimate at the book's present
	runs  bool
	begun bool
}

// Part is a partially completed job.
type Part struct {
	Job  Job
	Left int64 // estimated remaining seconds on this cluster; 0 means the whole estimate
}

// NewPreemptive returns the book of a cluster with the given parts at now. Executed is the number
// of node-seconds done earlier. The parts start to run at the first Advance.
func NewPreemptive(c Config, now, executed int64, parts []Part) (*Preemptive, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if c.Admission != EDF {
		return nil, errors.New("timetable: a preemptive book has no holes to insert into")
	}
	p := &Preemptive{config: c, now: now, executed: executed}
	for _, part := range parts {
		span := Span(part.Job.Estimate, c.Speed)
		if err := part.Job.Validate(); err != nil {
			return nil, fmt.Errorf("timetable: %w", err)
		}
		if part.Job.Nodes > c.Nodes || part.Left < 0 || part.Left > span || p.find(part.Job.ID) >= 0 {
			return nil, fmt.Errorf("timetable: job %d: twice in the book, too wide, or left %d of %d", part.Job.ID, part.Left, span)
		}
		s := share{Job: part.Job, span: span, left: part.Left}
		if s.left == 0 {
			s.left = span
		}
		p.jobs = slices.Insert(p.jobs, p.position(&s.Job), s)
	}
	p.refresh()
	if len(p.jobs) > 0 {
		p.next = now
	}
	return p, nil
}

// Config returns the configuration of the cluster.
func (p *Preemptive) Config() Config { return p.config }

// Speed returns the cluster's speed in permille of the reference speed.
func (p *Preemptive) Speed() int64 { return p.config.Speed }

// Version returns a number that increases whenever the book changes.
func (p *Preemptive) Version() uint64 { return p.version }

// Next returns the earliest second at which a job is released or reaches its estimate, or
// Forever if there is none.
func (p *Preemptive) Next() int64 { return p.next }

// Nodes returns nil: a job that can move at any time has no nodes of its own.
func (p *Preemptive) Nodes(int64) []int32 { return nil }

// Instants appends to out the predicted ends of all jobs, assuming exact estimates.
func (p *Preemptive) Instants(out []int64) []int64 {
	p.trial = append(p.trial[:0], p.jobs...)
	p.before.run(p.trial, p.config.Nodes, p.now)
	return append(out, p.before.ends...)
}

// Quote returns the effects of accepting j at now. It does not change the book.
func (p *Preemptive) Quote(now int64, j Job) Quote {
	mustBeBetween(p.now, now, p.next)
	busy, committed := p.load()
	q := Quote{
		Job: j, Speed: p.config.Speed, Nodes: int64(p.config.Nodes),
		Busy: busy, Executed: p.executed + busy*(now-p.now), Committed: committed - busy*(now-p.now),
		At: now, version: p.version,
	}
	q.Reason = refuse(&j, &p.config, now)
	if q.Reason == "" && p.find(j.ID) >= 0 {
		q.Reason = Known
	}
	if q.Reason != "" {
		return q
	}
	at := p.position(&j)
	p.trial = append(p.trial[:0], p.jobs...)
	for i := range p.trial {
		if s := &p.trial[i]; s.runs {
			s.left -= now - p.now
		}
	}
	p.before.run(p.trial, p.config.Nodes, now)
	span := Span(j.Estimate, p.config.Speed)
	p.trial = slices.Insert(p.trial, at, share{Job: j, span: span, left: span})
	p.after.run(p.trial, p.config.Nodes, now)
	for i := range p.trial {
		s, c := &p.trial[i], p.after.ends[i]
		if c > s.Deadline {
			q.Reason = NoPlan
			return q
		}
		if i == at {
			q.Start, q.Completion = c-span, c
			continue
		}
		was := i
		if i > at {
			was--
		}
		q.ZetaAll += c - p.before.ends[was]
		if s.Kind == Advance {
			q.Zeta += c - p.before.ends[was]
		}
	}
	q.Feasible = true
	return q
}

// Commit accepts the job of q, as [Book.Commit] does.
func (p *Preemptive) Commit(now int64, q Quote, facts []Fact) ([]Fact, error) {
	switch {
	case !q.Feasible:
		return facts, fmt.Errorf("timetable: commit job %d: %w", q.Job.ID, ErrInfeasible)
	case q.version != p.version || q.At != now:
		return facts, fmt.Errorf("timetable: commit job %d: %w", q.Job.ID, ErrStale)
	}
	p.advance(now)
	span := Span(q.Job.Estimate, p.config.Speed)
	p.jobs = slices.Insert(p.jobs, p.position(&q.Job), share{Job: q.Job, span: span, left: span})
	return p.grant(facts), nil
}

// Cancel removes a job from the book, as [Book.Cancel] does.
func (p *Preemptive) Cancel(now, id int64, facts []Fact) ([]Fact, error) {
	mustBeBetween(p.now, now, p.next)
	p.advance(now)
	i := p.find(id)
	if i < 0 {
		return facts, fmt.Errorf("timetable: cancel job %d: %w", id, ErrUnknown)
	}
	p.jobs = slices.Delete(p.jobs, i, i+1)
	return p.grant(append(facts, Fact{now, id, Cancelled})), nil
}

// Advance moves the book to now and records that the jobs in ended have completed, as
// [Book.Advance] does.
func (p *Preemptive) Advance(now int64, ended []int64, facts []Fact) []Fact {
	p.advance(now)
	slices.Sort(ended)
	for _, id := range ended {
		i := p.find(id)
		if i < 0 || !p.jobs[i].runs {
			panic("timetable: a job ended that was not running")
		}
		p.jobs = slices.Delete(p.jobs, i, i+1)
		facts = append(facts, Fact{now, id, Ended})
	}
	p.jobs = slices.DeleteFunc(p.jobs, func(s share) bool {
		if s.left > 0 || p.config.Overrun == Extend {
			return false
		}
		facts = append(facts, Fact{now, s.ID, Killed})
		return true
	})
	for i := range p.jobs {
		if s := &p.jobs[i]; s.left == 0 {
			s.left = p.config.extension(s.span)
			facts = append(facts, Fact{now, s.ID, Extended})
		}
	}
	return p.grant(facts)
}

// advance moves the running jobs to now.
func (p *Preemptive) advance(now int64) {
	if now < p.now || now > p.next {
		panic("timetable: advanced to a second before the last or after the next event")
	}
	for i := range p.jobs {
		if s := &p.jobs[i]; s.runs {
			s.left -= now - p.now
			p.executed += int64(s.Nodes) * (now - p.now)
		}
	}
	p.now = now
}

// grant reallocates the nodes. Facts of jobs that lose nodes come first.
func (p *Preemptive) grant(facts []Fact) []Fact {
	free := p.config.Nodes
	var gains []Fact
	for i := range p.jobs {
		s := &p.jobs[i]
		runs := s.Earliest <= p.now && s.Nodes <= free
		if runs {
			free -= s.Nodes
		}
		switch {
		case runs && !s.begun:
			gains = append(gains, Fact{p.now, s.ID, Started})
		case runs && !s.runs:
			gains = append(gains, Fact{p.now, s.ID, Resumed})
		case !runs && s.runs:
			facts = append(facts, Fact{p.now, s.ID, Suspended})
		}
		s.runs, s.begun = runs, s.begun || runs
	}
	facts = append(facts, gains...)
	p.version++
	p.refresh()
	return facts
}

// refresh recomputes the next event.
func (p *Preemptive) refresh() {
	p.next = Forever
	for i := range p.jobs {
		s := &p.jobs[i]
		switch {
		case s.runs:
			p.next = min(p.next, p.now+s.left)
		case s.Earliest > p.now:
			p.next = min(p.next, s.Earliest)
		}
	}
}

// load returns the number of nodes in use and the remaining node-seconds.
func (p *Preemptive) load() (busy, committed int64) {
	for i := range p.jobs {
		s := &p.jobs[i]
		if s.runs {
			busy += int64(s.Nodes)
		}
		committed += int64(s.Nodes) * s.left
	}
	return busy, committed
}

func (p *Preemptive) find(id int64) int {
	return slices.IndexFunc(p.jobs, func(s share) bool { return s.ID == id })
}

func (p *Preemptive) position(j *Job) int {
	return sort.Search(len(p.jobs), func(i int) bool { return compare(&p.jobs[i].Job, j) >= 0 })
}
