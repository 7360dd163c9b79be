package queue

import (
	"math"
	"slices"
	"sort"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// A plan is the number of free processors over time, according to the estimates of running and
// reserved contracts.
type plan []step

// A step is the number of free processors from its time until the next step.
type step struct {
	at   float64
	free int
}

// reset makes n processors free from now on.
func (p *plan) reset(now float64, n int) { *p = append((*p)[:0], step{now, n}) }

// forget removes the steps that have ended by now, and steps that do not differ from the one
// before them.
func (p *plan) forget(now float64) {
	s := append((*p)[:0], (*p)[p.find(now):]...)
	s[0].at = max(s[0].at, now)
	*p = slices.CompactFunc(s, func(a, b step) bool { return a.free == b.free })
}

// find returns the index of the step that contains t, or 0 if t is before all steps.
func (p *plan) find(t float64) int {
	return max(0, sort.Search(len(*p), func(i int) bool { return (*p)[i].at > t })-1)
}

// add adds n to the free processors in [from, to). It ignores times before the first step.
func (p *plan) add(from, to float64, n int) {
	from = max(from, (*p)[0].at)
	if !(to > from) {
		return
	}
	i, j := p.cut(from), len(*p)
	if !math.IsInf(to, 1) {
		j = p.cut(to)
	}
	for k := i; k < j; k++ {
		(*p)[k].free += n
	}
}

// cut returns the index of the step that starts at t. It creates the step if necessary.
func (p *plan) cut(t float64) int {
	i := p.find(t)
	if (*p)[i].at == t {
		return i
	}
	*p = slices.Insert(*p, i+1, step{t, (*p)[i].free})
	return i + 1
}

// fits reports whether n processors are free for span seconds from the time at, which must not
// be before the first step.
func (p *plan) fits(at, span float64, n int) bool {
	for i := p.find(at); ; i++ {
		if (*p)[i].free < n {
			return false
		}
		if i+1 == len(*p) || (*p)[i+1].at >= at+span {
			return true
		}
	}
}

// earliest returns the first time from which n processors are free for span seconds, or +Inf if
// there is none.
func (p *plan) earliest(from, span float64, n int) float64 {
	i := p.find(from)
	for at := max(from, (*p)[0].at); ; at = (*p)[i].at {
		j := i
		for j < len(*p) && (*p)[j].free >= n && (j == i || (*p)[j].at < at+span) {
			j++
		}
		if j == len(*p) || j > i && (*p)[j].at >= at+span {
			return at
		}
		// The first step with too few free processors must end before any possible start.
		for i = j; i < len(*p) && (*p)[i].free < n; i++ {
		}
		if i == len(*p) {
			return math.Inf(1)
		}
	}
}

// A slot is the time during which a contract runs or will run, according to its estimate.
type slot struct {
	from, to float64
	span     float64 // length, in seconds, while the contract waits
	first    float64 // earliest start that was assigned to the contract
	nodes    int
	demand   demand // resources that the contract holds, for drf
	user     int64
	runs     bool
}

// A tracker records which contracts are running. All policies that plan ahead contain a
// tracker.
type tracker struct {
	free
	slots    map[int32]*slot // slots by number of the contract
	capacity int             // number of processors of the present hosts; -1 if they must be counted again
	admits   int32           // contract that was admitted last and may still be rejected; none if there is no such contract
	entered  bool            // whether a request has entered the queue
	next     float64         // next tick, for policies that decide after all submissions of the same time
	said     contracts.Decision
	actions  [1]contracts.Action
}

const none = -1 // no contract

// never is a time at which no event occurs.
var never = math.Inf(1)

func newTracker() tracker {
	return tracker{slots: make(map[int32]*slot), capacity: -1, admits: none, next: never}
}

// look updates t with the changes on the hosts.
func (t *tracker) look(v contracts.View) {
	t.see(v)
	if t.capacity >= 0 {
		return
	}
	t.capacity = 0
	for h := range hosts.ID(v.Fleet()) {
		if !v.Unavailable(h) {
			t.capacity += t.tasks[h]
		}
	}
}

// enter adds the request of contract i at the end of the queue, or rejects it if the fleet can
// never run it.
func (t *tracker) enter(i int32, m contracts.Market) []contracts.Action {
	if r := m.Request(i); !r.Repeat && !everHolds(r, m.Hosts()) {
		return t.refuse(i, contracts.TooFewHosts)
	}
	t.actions[0] = contracts.Action{Verb: contracts.Enqueue, Contract: i, Place: len(m.Waiting())}
	return t.actions[:]
}

// later adds contract i to the queue. It is considered together with all requests submitted at
// the same time.
func (t *tracker) later(now float64, i int32, m contracts.Market) []contracts.Action {
	t.entered, t.next = true, now
	return t.enter(i, m)
}

// waits reports whether the policy is called only because a request has entered the queue, and
// resets this mark.
func (t *tracker) waits() (yes bool) {
	yes, t.entered = t.entered, false
	return yes
}

// Next implements [contracts.Policy]. Ticks come after submissions.
func (t *tracker) Next() (at float64, last bool) { return t.next, true }

// refuse rejects contract i.
func (t *tracker) refuse(i int32, reason contracts.Reason) []contracts.Action {
	t.said = contracts.Decision{Reason: reason}
	t.actions[0] = contracts.Action{Verb: contracts.Refuse, Contract: i, Decision: &t.said}
	return t.actions[:]
}

// hopeless reports whether r would miss its hard deadline even if it started now.
func (t *tracker) hopeless(now float64, r *contracts.Request) bool {
	return !r.SLA.GoesOn() && r.Late(now+r.Work/t.fastest)
}

// admit starts contract i on the hosts that were found. The given numbers explain the decision.
func (t *tracker) admit(now float64, i int32, m contracts.Market, numbers ...contracts.Number) []contracts.Action {
	r := m.Request(i)
	t.said = t.accept(r)
	t.said.Numbers = numbers
	t.slots[i] = &slot{from: now, first: now, to: now + r.Work/t.slowest(m.Hosts()), nodes: r.Nodes, user: r.User, runs: true}
	t.admits = i
	t.actions[0] = contracts.Action{Verb: contracts.Admit, Contract: i, Decision: &t.said}
	return t.actions[:]
}

// A planner considers all waiting requests after all submissions of the same time.
type planner interface {
	drop(now float64, i int32)                               // releases the processors of contract i
	pass(now float64, m contracts.Market) []contracts.Action // returns the next action
}

// handle implements the method Handle of the planner p, which contains a tracker.
func (t *tracker) handle(p planner, now float64, e contracts.Event, m contracts.Market) []contracts.Action {
	switch e.Kind {
	case contracts.Submitted, contracts.Lost:
		p.drop(now, e.Contract)
		return t.later(now, e.Contract, m)
	case contracts.Overdue:
		return t.refuse(e.Contract, contracts.TooLate)
	case contracts.Over:
		p.drop(now, e.Contract)
	case contracts.Came, contracts.Gone:
		t.changedHosts()
	case contracts.Tick, contracts.Continue, contracts.Freed:
		if t.waits() {
			return nil
		}
		t.next = never
		if i, yes := t.rejected(); yes {
			p.drop(now, i)
		}
		return p.pass(now, m)
	}
	return nil
}

// rejected returns the contract that was admitted last if the broker has rejected it because
// its owner cannot pay.
func (t *tracker) rejected() (i int32, yes bool) {
	i, t.admits = t.admits, none
	return i, i != none && t.said.Verdict == contracts.Reject
}

// running adds to the plan the contracts that run at now. A contract that has exceeded its
// estimate is assumed to end at the next possible time.
func (t *tracker) running(p *plan, now float64) {
	p.reset(now, t.capacity)
	for _, s := range t.slots {
		if s.runs {
			p.add(now, max(s.to, math.Nextafter(now, math.Inf(1))), -s.nodes)
		}
	}
}

// soon is the maximum time, in seconds, by which a job may exceed its estimate without
// counting as late.
const soon = sharing.Tick

// changedHosts records that a host has arrived or left.
func (t *tracker) changedHosts() { t.capacity = -1 }

// spans returns the estimated runtime of r on the slowest host.
func (t *tracker) spans(r *contracts.Request, v contracts.View) float64 { return r.Work / slowest(v) }

// slowest returns the speed of the slowest host.
func slowest(v contracts.View) float64 {
	slow := math.Inf(1)
	for h := range hosts.ID(v.Fleet()) {
		slow = min(slow, v.Spec(h).Speed)
	}
	return slow
}

// planned returns the properties of policies that plan ahead.
func planned(doc string, factory admission.Factory) admission.Policy {
	return admission.Policy{Doc: doc, New: factory, Properties: admission.Properties{Sharing: "exclusive", Queues: true, Packs: true}}
}
