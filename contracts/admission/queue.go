package admission

import (
	"fmt"
	"math"
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/hosts"
	"bourse/hosts/agenda"
	"bourse/hosts/availability"
	"bourse/hosts/availability/sched"
)

// Queue keeps all requests in one queue, first come, first served, looks at it at
// regular intervals, and gives each job a host that a matchmaker chooses by what is
// foretold of it: the schedulers of Zhang, Phillips, "Job-Scheduling with Resource
// Availability Prediction for Volunteer-Based Grid Computing" (§4).
//
// Jobs have one node. They need no deadline; what waits beyond one that is hard is
// rejected, so a run that is to have none gives them one after its horizon. A host
// has one job at a time, unless the matchmaker piles jobs up: then the sharing rule
// divides it, exclusive and auction alike into equal parts, and turns lets them run
// one after another.
type Queue struct {
	o     QueueOptions
	match sched.Matchmaker
	queue *sched.Queue
	pool  *sched.Pool

	next    float64 // look: From plus so many Intervals
	number  map[contracts.ID]int32
	jobs    []queued // by number
	free    []int32  // numbers
	off     []int32  // that may be free: their tasks have left their hosts
	overdue agenda.Agenda

	found  []sched.Placement
	placed []contracts.Placement
}

// A queued job is one that waits or runs.
type queued struct {
	id    contracts.ID
	bid   contracts.Placement // what it bids, on no host yet
	waits bool
}

// QueueOptions are the options of queue.
type QueueOptions struct {
	From     float64 `yaml:"from" doc:"instant of the first look, s; hosts that are there then count as idle since"`
	Interval float64 `yaml:"interval" doc:"between looks, s"`

	sched.QueueOptions `yaml:",inline"`
	Matchmaker         sched.Spec `yaml:"matchmaker" doc:"who chooses hosts: threshold, pps, first-available or random; with options, {threshold: {threshold: 0.8}}"`
}

func newQueue(decode func(any) error, _ bidding.Strategy, rng *rand.Rand) (contracts.Decider, error) {
	o := QueueOptions{Interval: 60, QueueOptions: sched.DefaultQueue(), Matchmaker: sched.Spec{Name: "threshold"}}
	if err := decode(&o); err != nil {
		return nil, err
	}
	m, err := o.Matchmaker.New(rng)
	if err != nil {
		return nil, err
	}
	return NewQueue(o, m)
}

// NewQueue makes the policy with matchmaker m, whatever the options name; the error
// names the option that is wrong.
func NewQueue(o QueueOptions, m sched.Matchmaker) (*Queue, error) {
	switch {
	case !(o.From >= 0 && o.From <= 1e12):
		return nil, fmt.Errorf("from is %v, want an instant of at least 0", o.From)
	case !(o.Interval >= 1e-3 && o.Interval <= 1e9):
		return nil, fmt.Errorf("interval is %v, want 0.001 to 1e9 seconds", o.Interval)
	}
	q, err := sched.NewQueue(o.QueueOptions)
	return &Queue{o: o, match: m, queue: q, number: make(map[contracts.ID]int32)}, err
}

var _ contracts.Dispatcher = (*Queue)(nil)

// Open implements [contracts.Dispatcher].
func (p *Queue) Open(now float64, v contracts.View) {
	var stays *availability.History
	histories, speeds, alike := make([]*availability.History, v.Fleet()), make([]float64, v.Fleet()), true
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
		if !v.Away(h) {
			p.Came(now, h)
		}
	}
}

// forever is the history of a host that stays.
func forever() *availability.History {
	h, err := availability.NewHistory("", 1, []availability.Record{{Start: 0, End: 1e15, State: availability.Available}}, 0)
	if err != nil {
		panic("admission: " + err.Error())
	}
	return h
}

// Decide implements [contracts.Decider].
func (p *Queue) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	least := r.Needs.Min.Resources
	if r.Nodes != 1 || !least.Zero() && (p.match.Piles() || !everHolds(r, v)) {
		return contracts.Decision{Reason: contracts.OneNode}
	}
	i := int32(len(p.jobs))
	if n := len(p.free); n > 0 {
		i, p.free = p.free[n-1], p.free[:n-1]
	} else {
		p.jobs = append(p.jobs, queued{})
	}
	p.jobs[i] = queued{id: r.ID, bid: contracts.Placement{Bid: max(1, r.NodeRate())}, waits: true}
	p.number[r.ID] = i
	p.queue.Submit(i, r.Work)
	if !r.SLA.GoesOn() {
		p.overdue.Set(i, r.Due())
	}
	p.wake(now)
	return contracts.Decision{Verdict: contracts.Defer}
}

// wake puts the next look at now or later.
func (p *Queue) wake(now float64) {
	p.next = max(p.next, math.Ceil((now-p.o.From)/p.o.Interval))
	for p.o.From+p.next*p.o.Interval < now {
		p.next++
	}
}

// Next implements [contracts.Dispatcher].
func (p *Queue) Next() float64 {
	if p.queue.Len() == 0 {
		return math.Inf(1)
	}
	return p.o.From + p.next*p.o.Interval
}

// Look implements [contracts.Dispatcher].
func (p *Queue) Look(now float64, _ contracts.View, out []contracts.Answer) []contracts.Answer {
	p.next++
	for _, i := range p.off {
		if j := &p.jobs[i]; !j.waits {
			delete(p.number, j.id)
			p.free = append(p.free, i)
		}
	}
	p.off = p.off[:0]
	for {
		i, due, ok := p.overdue.Min()
		if !ok || due > now {
			break
		}
		out = append(out, contracts.Answer{ID: p.jobs[i].id, Decision: contracts.Decision{Reason: contracts.TooLate}})
		p.Withdraw(p.jobs[i].id)
	}
	p.found = p.queue.Tick(now, p.pool, p.match, p.found[:0])
	p.placed = p.placed[:0]
	for _, f := range p.found {
		p.overdue.Remove(f.Job)
		j := &p.jobs[f.Job]
		j.waits = false
		j.bid.Host = f.Host
		p.placed = append(p.placed, j.bid)
	}
	for k, f := range p.found {
		out = append(out, contracts.Answer{ID: p.jobs[f.Job].id, Decision: accept(p.placed[k : k+1])})
	}
	return out
}

// Came implements [contracts.Dispatcher].
func (p *Queue) Came(now float64, h hosts.ID) { p.pool.Rise(max(now, p.o.From), h) }

// Gone implements [contracts.Dispatcher].
func (p *Queue) Gone(_ float64, h hosts.ID) { p.pool.Fall(h) }

// Off implements [contracts.Dispatcher].
func (p *Queue) Off(now float64, id contracts.ID, h hosts.ID) {
	p.pool.End(max(now, p.o.From), h)
	p.off = append(p.off, p.number[id])
}

// Again implements [contracts.Dispatcher].
func (p *Queue) Again(now float64, id contracts.ID) bool {
	i := p.number[id]
	if !p.queue.Resubmit(i) {
		return false
	}
	p.jobs[i].waits = true
	p.wake(now)
	return true
}

// Withdraw implements [contracts.Dispatcher].
func (p *Queue) Withdraw(id contracts.ID) {
	i := p.number[id]
	p.queue.Withdraw(i)
	p.overdue.Remove(i)
	p.jobs[i].waits = false
	p.off = append(p.off, i)
}
