package timetable

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// A Book is the plan of one cluster that never suspends jobs. Its time never decreases.
type Book struct {
	config  Config
	version uint64
	now     int64

	plan      []*entry   // accepted and not started, in key order
	slots     []interval // one planned slot per job of the plan
	running   []*entry   // sorted by id
	byID      map[int64]*entry
	spare     []*entry
	canonical bool // whether a rebuild would give the same plan

	steps     profile // nodes that no running or planned job uses
	nextStart int64   // next planned start; Forever if the plan is empty
	nextEnd   int64   // next estimated end; Forever if no job is running

	nodes  nodes
	usage  usage
	trial  trial
	quotes uint64 // number of versions used so far
}

// An entry is a job in a book.
type entry struct {
	Job
	span  int64 // e, the estimate in seconds on this cluster
	runs  bool
	start int64   // this field and the next two are valid only for running jobs
	end   int64   // estimated end
	nodes []int32 // nodes in ascending order
}

// New returns the empty book of a cluster.
func New(c Config) (*Book, error) { return Open(c, State{}) }

// A State is the state with which a book is opened.
type State struct {
	Now      int64
	Executed int64     // node-seconds done earlier, excluding those of Running
	Running  []Running // running jobs
	Planned  []Job     // accepted and not started
}

// Running is a running job.
type Running struct {
	Job   Job
	Start int64 // at most Now
	End   int64 // estimated end, after Now
}

// Open returns the book of a cluster with state s at s.Now, with a new plan. It returns an
// error if the jobs contradict one another, and ErrInfeasible if a job requests more nodes than
// the cluster has or a deadline cannot be met.
func Open(c Config, s State) (*Book, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if s.Now < 0 || s.Now > 3*Horizon || s.Executed < 0 {
		return nil, fmt.Errorf("timetable: opened at %d with %d node-seconds done", s.Now, s.Executed)
	}
	b := &Book{config: c, now: s.Now, byID: make(map[int64]*entry), canonical: true}
	b.nodes.init(c.Nodes)
	b.usage.done = s.Executed
	b.steps.reset(s.Now, c.Nodes)
	free := c.Nodes
	for _, r := range s.Running {
		free -= r.Job.Nodes
		switch {
		case b.byID[r.Job.ID] != nil:
			return nil, fmt.Errorf("timetable: job %d: found twice in the book", r.Job.ID)
		case r.Job.Nodes < 1 || free < 0:
			return nil, fmt.Errorf("timetable: job %d: its %d nodes are not free", r.Job.ID, r.Job.Nodes)
		case r.Start < 0 || r.Start > s.Now || r.End <= s.Now || r.End > 3*Horizon:
			return nil, fmt.Errorf("timetable: job %d: runs from %d to %d, now is %d", r.Job.ID, r.Start, r.End, s.Now)
		}
		e := b.newEntry(r.Job, r.End-r.Start)
		e.end = r.End
		b.steps.add(s.Now, r.End, -e.Nodes)
		b.run(e, r.Start)
	}
	for _, j := range s.Planned {
		if err := j.Validate(); err != nil {
			return nil, fmt.Errorf("timetable: %w", err)
		}
		if b.byID[j.ID] != nil {
			return nil, fmt.Errorf("timetable: job %d: found twice in the book", j.ID)
		}
		if j.Nodes > c.Nodes {
			return nil, fmt.Errorf("timetable: job %d: %d nodes of %d: %w", j.ID, j.Nodes, c.Nodes, ErrInfeasible)
		}
		b.insert(b.position(&j), b.newEntry(j, Span(j.Estimate, c.Speed)), interval{})
	}
	if !b.planAnew() {
		return nil, fmt.Errorf("timetable: %w", ErrInfeasible)
	}
	b.refreshEnds()
	return b, nil
}

// planAnew rebuilds the plan of all jobs that have not started. It plans them in key order,
// each at the earliest time at which its nodes are free. It reports whether every deadline is
// met.
func (b *Book) planAnew() bool {
	for i, e := range b.plan {
		s := b.steps.fit(max(b.now, e.Earliest), Forever, e.span, e.Nodes)
		if s > e.latest() {
			return false
		}
		b.slots[i] = interval{s, s + e.span}
		b.steps.add(s, s+e.span, -e.Nodes)
	}
	b.refreshStarts()
	return true
}

// Config returns the configuration of the cluster.
func (b *Book) Config() Config { return b.config }

// Speed returns the cluster's speed in permille of the reference speed.
func (b *Book) Speed() int64 { return b.config.Speed }

// Version returns a number that increases whenever the book changes.
func (b *Book) Version() uint64 { return b.version }

// Waiting returns the number of accepted jobs that have not started.
func (b *Book) Waiting() int { return len(b.plan) }

// Free returns the number of nodes without a running job.
func (b *Book) Free() int { return len(b.nodes.idle) }

// Next returns the earliest second at which a job should start or exceeds its estimate, or
// Forever if there is none.
func (b *Book) Next() int64 { return min(b.nextStart, b.nextEnd) }

// Nodes returns the nodes of a running job in ascending order, or nil if the job is not
// running. The slice is valid until the job ends.
func (b *Book) Nodes(id int64) []int32 {
	if e := b.byID[id]; e != nil && e.runs {
		return e.nodes
	}
	return nil
}

// A Start is the planned start of a job.
type Start struct {
	Job int64
	At  int64
}

// Plan appends the planned starts to out in key order.
func (b *Book) Plan(out []Start) []Start {
	for i, e := range b.plan {
		out = append(out, Start{e.ID, b.slots[i].from})
	}
	return out
}

// Instants appends to out the estimated end of each running job and the planned start and end
// of each planned job.
func (b *Book) Instants(out []int64) []int64 {
	for _, e := range b.running {
		out = append(out, e.end)
	}
	for _, slot := range b.slots {
		out = append(out, slot.from, slot.to)
	}
	return out
}

// newEntry returns an entry for j. It reuses a free entry if there is one.
func (b *Book) newEntry(j Job, span int64) *entry {
	e := &entry{}
	if n := len(b.spare); n > 0 {
		e, b.spare = b.spare[n-1], b.spare[:n-1]
	}
	*e = entry{Job: j, span: span, nodes: e.nodes[:0]}
	return e
}

// drop frees the entry of a job that is neither running nor planned.
func (b *Book) drop(e *entry) {
	delete(b.byID, e.ID)
	b.spare = append(b.spare, e)
}

// position returns the index in the plan of j, or the index at which to insert it.
func (b *Book) position(j *Job) int {
	return sort.Search(len(b.plan), func(i int) bool { return compare(&b.plan[i].Job, j) >= 0 })
}

// insert adds a job to the plan at index i. The caller has already subtracted the job's slot
// from the free nodes.
func (b *Book) insert(i int, e *entry, slot interval) {
	b.plan = slices.Insert(b.plan, i, e)
	b.slots = slices.Insert(b.slots, i, slot)
	b.byID[e.ID] = e
	b.usage.planned += int64(e.Nodes) * e.span
	b.nextStart = min(b.nextStart, slot.from)
	b.version++
}

// remove removes the job at index i from the book and returns its slot, which is free again.
func (b *Book) remove(i int) interval {
	e, slot := b.plan[i], b.slots[i]
	b.plan = slices.Delete(b.plan, i, i+1)
	b.slots = slices.Delete(b.slots, i, i+1)
	b.steps.add(slot.from, slot.to, e.Nodes)
	b.usage.planned -= int64(e.Nodes) * e.span
	b.drop(e)
	return slot
}

// run adds e to the running jobs and allocates its nodes.
func (b *Book) run(e *entry, start int64) {
	i, _ := slices.BinarySearchFunc(b.running, e.ID, func(e *entry, id int64) int { return cmp.Compare(e.ID, id) })
	b.running = slices.Insert(b.running, i, e)
	b.byID[e.ID] = e
	e.start, e.runs = start, true
	e.nodes = b.nodes.take(e.Nodes, e.nodes)
	b.usage.start(e)
}

// stop removes e from the running jobs and releases its nodes.
func (b *Book) stop(e *entry, now int64) {
	i := slices.Index(b.running, e)
	b.running = slices.Delete(b.running, i, i+1)
	b.nodes.release(e.nodes, now)
	b.usage.stop(e, now)
}

// refreshStarts recomputes the next planned start.
func (b *Book) refreshStarts() {
	b.nextStart = Forever
	for _, slot := range b.slots {
		b.nextStart = min(b.nextStart, slot.from)
	}
}

// refreshEnds recomputes the next estimated end.
func (b *Book) refreshEnds() {
	b.nextEnd = Forever
	for _, e := range b.running {
		b.nextEnd = min(b.nextEnd, e.end)
	}
}
