package queue

import (
	"math"
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/hosts/availability/sched"
	"bourse/hosts/eventheap"
	"bourse/workloadgen/config"
)

// oneNode means that the request has several nodes, or has a minimum requirement that cannot be
// guaranteed.
const oneNode contracts.Reason = "only jobs of one node are queued"

// Queue puts all requests in one queue, first come, first served. At regular intervals it
// examines the queue and assigns a host to each job. A matchmaker chooses the host by its
// predicted availability. Queue and matchmaker together implement the schedulers of Zhang,
// Phillips, "Job-Scheduling with Resource Availability Prediction for Volunteer-Based Grid
// Computing" (§4).
//
// Jobs have one node. The schedulers need no deadlines, but a job that waits beyond a hard
// deadline is rejected. A run without deadlines therefore sets all deadlines after its
// horizon.
//
// A host runs one job at a time unless the matchmaker assigns several jobs to it. Then the
// sharing rule divides the host: exclusive and auction divide it into equal parts, and turns
// runs the jobs one after another.
type Queue struct {
	o     Options
	match sched.Matchmaker
	queue *sched.Queue
	pool  *sched.Pool

	next    float64 // the next examination of the queue is at From + next × Interval
	number  map[contracts.ID]int32
	jobs    []queued // jobs by number
	free    []int32  // job numbers that can be reused
	over    []int32  // job numbers that can be reused after the next examination
	overdue eventheap.Heap

	found   []sched.Placement
	placed  []contracts.Placement
	said    []contracts.Decision
	actions []contracts.Action
}

// A queued is a job that waits or runs.
type queued struct {
	id       contracts.ID
	contract int32               // number of the job's contract
	place    contracts.Placement // bid and host of the job; the host is nowhere while the job waits
}

// nowhere is the host of a job that waits.
const nowhere hosts.ID = -1

// Options are the options of queue.
type Options struct {
	From     float64 `yaml:"from" validate:"min=0,max=1e12" doc:"time of the first scan, s; hosts present then count as idle since that time"`
	Interval float64 `yaml:"interval" validate:"min=1e-3,max=1e9" doc:"time between scans, s"`

	sched.QueueOptions `yaml:",inline"`
	Matchmaker         config.Spec `yaml:"matchmaker" doc:"rule that chooses hosts: threshold, pps, first-available or random; with options, {name: threshold, threshold: 0.8}"`
}

// newQueue returns a queue policy with the decoded options.
func newQueue(decode func(any) error, _ bidding.Strategy, rng *rand.Rand) (contracts.Policy, error) {
	o := Options{Interval: 60, QueueOptions: sched.DefaultQueue(), Matchmaker: config.Spec{Name: "threshold"}}
	if err := decode(&o); err != nil {
		return nil, err
	}
	m, err := sched.Table(rng).New(o.Matchmaker.Name, o.Matchmaker.Decode)
	if err != nil {
		return nil, err
	}
	return New(o, m)
}

// New creates the policy with matchmaker m, which overrides the matchmaker named in the
// options. The error names the invalid option.
func New(o Options, m sched.Matchmaker) (*Queue, error) {
	if err := config.Check(&o); err != nil {
		return nil, err
	}
	q, err := sched.NewQueue(o.QueueOptions)
	return &Queue{o: o, match: m, queue: q, number: make(map[contracts.ID]int32)}, err
}

var _ contracts.Policy = (*Queue)(nil)

// Handle implements [contracts.Policy].
func (p *Queue) Handle(now float64, e contracts.Event, m contracts.Market) []contracts.Action {
	switch e.Kind {
	case contracts.Opened:
		p.open(now, m.Hosts())
	case contracts.Submitted:
		return p.enter(now, e.Contract, m)
	case contracts.Lost:
		return p.lost(now, e.Contract, m)
	case contracts.Over:
		p.gone(now, p.number[m.Request(e.Contract).ID])
	case contracts.Came:
		p.came(now, e.Host)
	case contracts.Gone:
		p.pool.Fall(e.Host)
	case contracts.Tick:
		return p.look(now)
	case contracts.Continue:
		for k := range p.actions {
			if a := &p.actions[k]; a.Verb == contracts.Admit && a.Decision.Verdict == contracts.Reject {
				p.gone(now, p.found[k-(len(p.actions)-len(p.found))].Job) // the broker rejected the job because its owner could not pay
			}
		}
		p.actions = p.actions[:0]
	}
	return nil
}

// Next implements [contracts.Policy]. The policy examines its queue after all submissions at
// the same time.
func (p *Queue) Next() (at float64, last bool) {
	if p.queue.Len() == 0 {
		return math.Inf(1), true
	}
	return p.o.From + p.next*p.o.Interval, true
}

// open prepares the pool of hosts when the market opens.
func (p *Queue) open(now float64, v contracts.View) {
	var stays *availability.History
	histories, speeds, alike := make([]*availability.History, v.Fleet()), make([]float64, v.Fleet()), true
	// Hosts without a recorded history are assumed never to leave.
	for h := range hosts.ID(v.Fleet()) {
		speeds[h] = v.Spec(h).Speed
		alike = alike && speeds[h] == 1
		if histories[h] = v.History(h); histories[h] == nil {
			if stays == nil {
				stays = forever()
			}
			histories[h] = stays
		}
	}
	p.pool = sched.NewPool(histories, false)
	if !alike {
		p.pool.SetSpeeds(speeds)
	}
	for h := range hosts.ID(v.Fleet()) {
		if !v.Unavailable(h) {
			p.came(now, h)
		}
	}
}

// came makes h available for jobs.
func (p *Queue) came(now float64, h hosts.ID) { p.pool.Rise(max(now, p.o.From), h) }

// forever returns the history of a host that never leaves.
func forever() *availability.History {
	h, err := availability.NewHistory("", 1, []availability.Record{{Start: 0, End: 1e15, State: availability.Available}}, 0)
	if err != nil {
		panic("queue: " + err.Error())
	}
	return h
}

// enter puts the submitted contract i in the queue, or rejects it if it is unsuitable.
func (p *Queue) enter(now float64, i int32, m contracts.Market) []contracts.Action {
	r := m.Request(i)
	least := r.Needs.Min.Resources
	if r.Nodes != 1 || !least.Zero() && (p.match.Piles() || !allHold(r, m.Hosts())) {
		p.said = append(p.said[:0], contracts.Decision{Reason: oneNode})
		p.actions = append(p.actions[:0], contracts.Action{Verb: contracts.Refuse, Contract: i, Decision: &p.said[0]})
		return p.actions
	}
	j := int32(len(p.jobs))
	if n := len(p.free); n > 0 {
		j, p.free = p.free[n-1], p.free[:n-1]
	} else {
		p.jobs = append(p.jobs, queued{})
	}
	p.jobs[j] = queued{id: r.ID, contract: i, place: contracts.Placement{Host: nowhere, Bid: r.LeastBid()}}
	p.number[r.ID] = j
	p.queue.Submit(j, r.Work)
	if !r.SLA.GoesOn() {
		p.overdue.Set(j, r.Due())
	}
	p.wake(now)
	return p.waits(i, m)
}

// allHold reports whether each host, if idle, would have room for a node of r. Matchmakers do
// not compare the requirements of jobs with the resources of hosts.
func allHold(r *contracts.Request, v contracts.View) bool {
	for h := range hosts.ID(v.Fleet()) {
		if spec := v.Spec(h); !r.Needs.Fits(spec, spec.Offers()) {
			return false
		}
	}
	return true
}

// waits returns the action that adds contract i at the end of the broker's waiting list.
func (p *Queue) waits(i int32, m contracts.Market) []contracts.Action {
	p.actions = append(p.actions[:0], contracts.Action{Verb: contracts.Enqueue, Contract: i, Place: len(m.Waiting())})
	return p.actions
}

// wake schedules the next examination of the queue at the first regular time that is not
// before now.
func (p *Queue) wake(now float64) {
	p.next = max(p.next, math.Ceil((now-p.o.From)/p.o.Interval))
	for p.o.From+p.next*p.o.Interval < now {
		p.next++
	}
}

// look rejects overdue jobs and assigns hosts to the other jobs.
func (p *Queue) look(now float64) []contracts.Action {
	// Reject the jobs whose deadlines have passed, and then assign hosts to the other jobs.
	p.next++
	p.free = append(p.free, p.over...)
	p.over, p.actions, p.said = p.over[:0], p.actions[:0], p.said[:0]
	for {
		j, due, ok := p.overdue.Min()
		if !ok || due > now {
			break
		}
		p.said = append(p.said, contracts.Decision{Reason: contracts.TooLate})
		p.actions = append(p.actions, contracts.Action{Verb: contracts.Refuse, Contract: p.jobs[j].contract})
		p.gone(now, j)
	}
	p.found = p.queue.Tick(now, p.pool, p.match, p.found[:0])
	p.placed = slices.Grow(p.placed[:0], len(p.found))
	for k, f := range p.found {
		j := &p.jobs[f.Job]
		p.overdue.Remove(f.Job)
		j.place.Host = f.Host
		p.placed = append(p.placed, j.place)
		p.said = append(p.said, contracts.Decision{Verdict: contracts.Accept, Placements: p.placed[k : k+1]})
		p.actions = append(p.actions, contracts.Action{Verb: contracts.Admit, Contract: j.contract})
	}
	for k := range p.actions {
		p.actions[k].Decision = &p.said[k]
	}
	return p.actions
}

// lost removes contract i from its host, which has left. The contract waits again if jobs are
// resubmitted.
func (p *Queue) lost(now float64, i int32, m contracts.Market) []contracts.Action {
	n := p.number[m.Request(i).ID]
	j := &p.jobs[n]
	p.pool.End(max(now, p.o.From), j.place.Host)
	j.place.Host = nowhere
	if !p.queue.Resubmit(n) {
		return nil
	}
	p.wake(now)
	return p.waits(i, m)
}

// gone removes job n, which has ended or was withdrawn.
func (p *Queue) gone(now float64, n int32) {
	j := &p.jobs[n]
	if j.place.Host == nowhere {
		p.queue.Withdraw(n)
		p.overdue.Remove(n)
	} else {
		p.pool.End(max(now, p.o.From), j.place.Host)
	}
	delete(p.number, j.id)
	p.over = append(p.over, n)
}
