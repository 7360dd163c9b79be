package timetable

import (
	"cmp"
	"slices"
)

// A naive is a literal implementation of the rules for one cluster: second by second, with a
// full rebuild after each event. It is the reference for [Book].
type naive struct {
	config  Config
	now     int64
	running []naiveJob // in order of id
	planned []naiveJob // in key order
	done    int64      // node-seconds executed before now
	lastEnd []int64    // one per node
	owner   []int64    // id of the job on each node, or -1
}

type naiveJob struct {
	Job
	span, true  int64
	start, end  int64 // end is estimated
	nodes       []int32
	left, spent int64 // only for a preemptive cluster
	runs, begun bool
}

func newNaive(c Config) *naive {
	c, err := c.withDefaults()
	if err != nil {
		panic(err)
	}
	n := &naive{config: c, lastEnd: make([]int64, c.Nodes), owner: make([]int64, c.Nodes)}
	for i := range n.owner {
		n.owner[i] = -1
	}
	return n
}

// rebuild plans jobs from scratch, second by second. It returns false if a deadline is missed.
func (n *naive) rebuild(jobs []naiveJob) ([]naiveJob, bool) {
	jobs = slices.Clone(jobs)
	slices.SortFunc(jobs, func(a, b naiveJob) int {
		return cmp.Or(cmp.Compare(a.Deadline, b.Deadline), cmp.Compare(a.Earliest, b.Earliest), cmp.Compare(a.Arrival, b.Arrival), cmp.Compare(a.ID, b.ID))
	})
	busy := map[int64]int{}
	for _, r := range n.running {
		for t := n.now; t < r.end; t++ {
			busy[t] += r.Nodes
		}
	}
	for i := range jobs {
		j := &jobs[i]
		j.start = n.hole(busy, j)
		if j.start+j.span > j.Deadline {
			return nil, false
		}
		for t := j.start; t < j.start+j.span; t++ {
			busy[t] += j.Nodes
		}
	}
	return jobs, true
}

// hole returns the earliest start of j next to busy.
func (n *naive) hole(busy map[int64]int, j *naiveJob) int64 {
	for s := max(n.now, j.Earliest); ; s++ {
		ok := true
		for t := s; t < s+j.span; t++ {
			ok = ok && busy[t]+j.Nodes <= n.config.Nodes
		}
		if ok {
			return s
		}
	}
}

// quote returns the effects of accepting j, and the plan that includes it.
func (n *naive) quote(j Job) (q Quote, plan []naiveJob) {
	nj := naiveJob{Job: j, span: Span(j.Estimate, n.config.Speed)}
	q = Quote{Job: j, Speed: n.config.Speed, Nodes: int64(n.config.Nodes), At: n.now, Executed: n.done}
	for _, r := range n.running {
		q.Busy += int64(r.Nodes)
		q.Committed += int64(r.Nodes) * (r.end - n.now)
	}
	for _, p := range n.planned {
		q.Committed += int64(p.Nodes) * p.span
	}
	if j.Nodes > n.config.Nodes {
		return q, nil
	}
	plan, ok := n.rebuild(append(slices.Clone(n.planned), nj))
	if !ok && n.config.Admission == EDFInsert {
		busy := map[int64]int{}
		for _, p := range n.planned {
			for t := p.start; t < p.start+p.span; t++ {
				busy[t] += p.Nodes
			}
		}
		for _, r := range n.running {
			for t := n.now; t < r.end; t++ {
				busy[t] += r.Nodes
			}
		}
		nj.start = n.hole(busy, &nj)
		ok = nj.start+nj.span <= j.Deadline
		plan = append(slices.Clone(n.planned), nj)
		slices.SortFunc(plan, func(a, b naiveJob) int { return compare(&a.Job, &b.Job) })
	}
	if !ok {
		return q, nil
	}
	q.Feasible = true
	for _, p := range plan {
		if p.ID == j.ID {
			q.Start, q.Completion = p.start, p.start+p.span
		}
		for _, was := range n.planned {
			if was.ID == p.ID {
				q.ZetaAll += p.start - was.start
				if p.Kind == Advance {
					q.Zeta += p.start - was.start
				}
			}
		}
	}
	return q, plan
}

// commit adopts a plan with a new job with the given true runtime.
func (n *naive) commit(plan []naiveJob, id, runtime int64, facts []Fact) []Fact {
	n.planned = plan
	for i := range plan {
		if plan[i].ID == id {
			plan[i].true = Span(runtime, n.config.Speed)
		}
	}
	return n.starts(facts)
}

// cancel removes a job; a preemptive cluster then reallocates its nodes.
func (n *naive) cancel(id int64, preempt bool) []Fact {
	facts := []Fact{{n.now, id, Cancelled}}
	for _, r := range slices.Clone(n.running) {
		if r.ID == id {
			n.drop(r)
		}
	}
	n.planned = slices.DeleteFunc(n.planned, func(j naiveJob) bool { return j.ID == id })
	if preempt {
		return n.grants(facts)
	}
	if plan, ok := n.rebuild(n.planned); ok {
		n.planned = plan
	}
	return n.starts(facts)
}

// present returns the ids of all jobs in the book.
func (n *naive) present() []int64 {
	ids := []int64{}
	for _, j := range slices.Concat(n.running, n.planned) {
		ids = append(ids, j.ID)
	}
	return ids
}

// step advances to the next second.
func (n *naive) step(facts []Fact) []Fact {
	for _, r := range n.running {
		n.done += int64(r.Nodes)
	}
	n.now++
	early := false
	for _, r := range slices.Clone(n.running) {
		if r.start+r.true == n.now {
			early = early || r.end > n.now
			facts = append(facts, Fact{n.now, r.ID, Ended})
			n.drop(r)
		}
	}
	for _, r := range slices.Clone(n.running) {
		if r.end != n.now {
			continue
		}
		if n.config.Overrun == Extend {
			i := slices.IndexFunc(n.running, func(o naiveJob) bool { return o.ID == r.ID })
			n.running[i].end += max(1, (r.span*n.config.ExtendPct+99)/100)
			if plan, ok := n.rebuild(n.planned); ok {
				n.planned = plan
				facts = append(facts, Fact{n.now, r.ID, Extended})
				continue
			}
		}
		facts = append(facts, Fact{n.now, r.ID, Killed})
		n.drop(r)
	}
	if early {
		if plan, ok := n.rebuild(n.planned); ok {
			n.planned = plan
		}
	}
	return n.starts(facts)
}

func (n *naive) drop(r naiveJob) {
	n.running = slices.DeleteFunc(n.running, func(o naiveJob) bool { return o.ID == r.ID })
	for _, node := range r.nodes {
		n.owner[node], n.lastEnd[node] = -1, n.now
	}
}

// starts starts the jobs that are due, each on the idle nodes that became idle last.
func (n *naive) starts(facts []Fact) []Fact {
	for _, p := range slices.Clone(n.planned) {
		if p.start != n.now {
			continue
		}
		p.end = p.start + p.span
		for range p.Nodes {
			best := -1
			for i, id := range n.owner {
				if id < 0 && (best < 0 || n.lastEnd[i] > n.lastEnd[best]) {
					best = i
				}
			}
			n.owner[best] = p.ID
			p.nodes = append(p.nodes, int32(best))
		}
		slices.Sort(p.nodes)
		n.running = append(n.running, p)
		n.planned = slices.DeleteFunc(n.planned, func(o naiveJob) bool { return o.ID == p.ID })
		facts = append(facts, Fact{n.now, p.ID, Started})
	}
	slices.SortFunc(n.running, func(a, b naiveJob) int { return cmp.Compare(a.ID, b.ID) })
	return facts
}
