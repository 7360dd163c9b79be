// Package cleared contains the policies that sell processors in periodic auction clearings. At
// regular times, a mechanism of market/clearing decides which jobs have units of hosts until
// the next clearing.
//
// [Policy] is the common adapter. It receives ticks, builds the order book of a clearing from
// the jobs, and converts the result into actions. Jobs that win start, continue or move; jobs
// that lose are suspended. Each seller, in its own file, defines the bid of a job, the units
// for sale, and the jobs that win.
//
// A unit is one processor of a host. A job of n nodes takes n units on distinct hosts, or
// none.
package cleared

import (
	"math"
	"slices"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/hosts"
	"bourse/market"
	"bourse/market/clearing"
)

// Policies returns the policies of this package, by name.
func Policies() map[string]admission.Policy {
	free := admission.Properties{Sharing: "exclusive", Rated: true, Clears: true, Free: true}
	return map[string]admission.Policy{
		"call":   {Doc: "call auctions at regular times, with sellers' asks and one price", New: newCall, Properties: admission.Properties{Sharing: "exclusive", Rated: true, Clears: true}},
		"karma":  {Doc: "units by credits: who demands less than its part earns credits to demand more later (Karma)", New: newKarma, Properties: free},
		"slices": {Doc: "units one at a time to the user with the fewest relative to its weight", New: newSlices, Properties: free},
		"spot":   {Doc: "interruptible processors at a spot price, cleared with notice, in addition to on-demand ones", New: newSpot, Properties: admission.Properties{Sharing: "exclusive", Rated: true, Clears: true, Classes: []string{"ondemand", "spot"}}},
	}
}

// Reasons of cleared policies.
const (
	doesNotFit contracts.Reason = "does not fit" // the bid of the job exceeds the price, but its nodes do not fit on the hosts
)

// Common holds the options that all sellers share.
type Common struct {
	Every   float64 `yaml:"every" validate:"min=1e-3,max=1e9" doc:"time between clearings, s"`
	Restore float64 `yaml:"restore" validate:"min=0,max=1e9" doc:"extra work of each node when a job returns to hosts with its work, s"`
	Losers  string  `yaml:"losers" validate:"oneof=wait leave" doc:"waiting jobs that lose: wait or leave (are rejected)"`
}

// A seller implements one method of selling units.
type seller interface {
	// consider fills in the remaining fields of j, which has just been submitted, or returns
	// the reason to reject it.
	consider(p *Policy, now float64, j *job, r *contracts.Request) contracts.Reason

	// decide chooses the jobs that have units after the clearing at time at. It sets takes for
	// each job that takes part in the clearing, and wins for each job that wins.
	decide(p *Policy, now, at float64)

	// fill appends the actions that start jobs on free units between clearings.
	fill(p *Policy, now float64)

	// terms returns the rate of each node of j, and the numbers of a decision to start it.
	terms(p *Policy, j *job) (market.Rate, contracts.Numbers)
}

// A Policy sells units in auction clearings, by the method of its seller. It implements
// [contracts.Policy].
type Policy struct {
	Common
	seller
	notice      float64
	interrupted string // resume, restart or end
	unpaid      bool   // whether units cost nothing; all hosts then form one class
	asks        bool   // whether hosts have their own asks, so that clearings also select the units that are sold

	classes []*class
	of      []int32           // class of each host
	specs   []*hosts.Spec     // specification of each host
	tasks   []int             // processors of each host
	load    []int             // number of tasks on each host, including those of actions not yet carried out
	room    []hosts.Resources // unreserved resources of each host, after the actions not yet carried out
	present []bool            // whether each host is present
	guessed []hosts.ID        // hosts whose load and room include actions not yet carried out
	view    contracts.View    // view during the current event; nil between events
	events  int               // number of events so far
	jobs    []*job            // in order of submission
	number  map[int32]*job

	next     int  // number of the next clearing; clearing k is at k × Every
	pending  bool // whether the decision for the next clearing has been made
	concerns bool // whether there were jobs when the decision was made

	unsettled bool // whether something has changed since the last decision, or because of its clearing
	again     bool // whether a pass is due

	alone   bool // whether no more requests will be submitted
	stalled int  // number of decisions since a job came closer to its end, was submitted or ended

	clock     float64
	actions   []contracts.Action
	decisions []*contracts.Decision // one decision per action that has a decision
}

// A class is the set of hosts with the same specification. Each class is a separate market.
type class struct {
	spec  hosts.Spec
	hosts []hosts.ID
	units int // number of processors of the available hosts

	several bool // whether a host has several processors, so that clearings also assign jobs to hosts

	book    clearing.Book
	bidders []*job // job of each bid in the book
	result  clearing.Result
	offered int
}

// A job is a contract, or a request for one.
type job struct {
	contract int32
	id       contracts.ID
	user     int32
	submit   float64
	nodes    int
	needs    contracts.Requirement
	work     float64 // estimated work of each node
	due      float64 // deadline; +Inf unless it is hard
	class    *class
	bid      market.Rate
	state    state
	on       []hosts.ID        // hosts of the nodes while the job runs
	holds    []hosts.Resources // resources reserved by each node while the job runs
	placed   int               // number of the event at which the job started on its present hosts
	done     float64           // work done per node when the job was last suspended
	most     float64           // largest value of done so far

	takes    bool // whether the job takes part in the decision for the next clearing
	wins     bool
	to       []hosts.ID // hosts of the units that the job wins; nil if any hosts are acceptable
	waited   bool       // whether the job has been considered but did not start
	repeat   bool       // whether the job was on a host that left
	onDemand bool       // whether the job pays the fixed rate and is not interrupted
	idle     bool       // whether the buyer wants no units at present
	safe     bool       // whether the buyer keeps the job on demand until it ends
	deadline float64
}

// A state is the stage that a job has reached.
type state uint8

const (
	waiting state = iota
	running
	paused
)

func (p *Policy) init(c Common, s seller) *Policy {
	p.Common, p.seller, p.next, p.number = c, s, 1, map[int32]*job{}
	return p
}

// Next implements [contracts.Policy]. Clearings come after the requests submitted at the same
// time.
func (p *Policy) Next() (at float64, last bool) {
	if at = float64(p.next) * p.Every; !p.pending {
		at -= p.notice
	}
	return at, true
}

// patience is the number of decisions without progress after which no waiting job is expected
// to start, and after which suspended jobs are cancelled; see [Policy.giveUp].
const patience = 1000

// Pending reports whether the next tick matters even if no more requests come. The tick matters
// if a decision about jobs awaits its clearing, if a job runs, or if something has changed
// since the last decision. Credits change at each clearing, so a job can start even if nothing
// else has happened.
func (p *Policy) Pending(idle bool) bool {
	p.alone = true
	runs := func(j *job) bool { return j.state == running }
	return p.pending && p.concerns || !idle && (p.unsettled || slices.ContainsFunc(p.jobs, runs) || p.unpaid && p.stalled <= patience)
}

// Handle implements [contracts.Policy].
func (p *Policy) Handle(now float64, e contracts.Event, m contracts.Market) []contracts.Action {
	p.skip(now)
	if e.Kind == contracts.Over || e.Kind == contracts.Submitted {
		p.alone, p.stalled = false, 0
	}
	if e.Kind == contracts.Over { // the policy must not read the market
		p.unsettled = true
		p.remove(p.number[e.Contract])
		return nil
	}
	if e.Kind != contracts.Continue {
		p.actions, p.decisions = p.actions[:0], p.decisions[:0]
	}
	p.clock, p.view = now, m.Hosts()
	p.events++
	p.unsettled = p.unsettled || e.Kind != contracts.Tick && e.Kind != contracts.Continue
	p.see(p.view)
	switch e.Kind {
	case contracts.Submitted:
		p.submitted(now, e.Contract, m)
	case contracts.Lost:
		j := p.number[e.Contract]
		j.state, j.repeat, j.on, j.done = waiting, true, nil, 0
		p.enqueue(j, m)
		p.again = false // more hosts may leave at this time; the event Freed follows
	case contracts.Overdue:
		p.refuse(p.number[e.Contract])
	case contracts.Freed:
		p.pass(now)
	case contracts.Tick:
		p.tick(now, m.Hosts())
	case contracts.Continue:
		p.carried()
		p.actions, p.decisions = p.actions[:0], p.decisions[:0]
		if p.again {
			p.pass(now)
		}
	}
	p.view = nil // a copy of the policy must not refer to the market
	return p.actions
}

// skip drops the ticks before now. These ticks did not matter: see [Policy.Pending].
func (p *Policy) skip(now float64) {
	for at, _ := p.Next(); at < now; at, _ = p.Next() {
		p.pending, p.next = false, max(p.next+1, int((now+p.notice)/p.Every))
	}
}

// see updates the classes for the hosts that have changed.
func (p *Policy) see(v contracts.View) {
	changed, all := admission.Changed(v, len(p.load))
	changed = append(p.guessed, changed...)
	p.guessed = changed[:0]
	if all {
		n := v.Fleet()
		p.load, p.tasks, p.present, p.of = make([]int, n), make([]int, n), make([]bool, n), make([]int32, n)
		p.specs, p.room = make([]*hosts.Spec, n), make([]hosts.Resources, n)
		for _, c := range p.classes {
			c.hosts, c.units = c.hosts[:0], 0
		}
		for h := range hosts.ID(n) {
			p.place(h, v.Spec(h))
		}
	}
	for _, h := range changed {
		here := !v.Unavailable(h)
		if c := p.classes[p.of[h]]; here != p.present[h] {
			if p.present[h] = here; here {
				c.units += p.tasks[h]
			} else {
				c.units -= p.tasks[h]
			}
		}
		p.load[h], p.room[h] = len(v.On(h)), v.Room(h)
	}
}

// place assigns host h to its class. The fastest host sets the speed of the class.
func (p *Policy) place(h hosts.ID, spec *hosts.Spec) {
	like := *spec
	like.Name = ""
	i := slices.IndexFunc(p.classes, func(c *class) bool { return c.spec == like || p.unpaid })
	if i < 0 {
		i = len(p.classes)
		p.classes = append(p.classes, &class{spec: like})
	}
	c := p.classes[i]
	c.spec.Speed = max(c.spec.Speed, like.Speed)
	c.hosts = append(c.hosts, h)
	p.of[h], p.specs[h], p.tasks[h] = int32(i), spec, max(1, int(spec.CPUs))
	c.several = c.several || p.tasks[h] > 1 && !p.unpaid
}

// submitted handles a new request. A request that is not rejected waits for the next pass.
func (p *Policy) submitted(now float64, i int32, m contracts.Market) {
	r := m.Request(i)
	j := &job{contract: i, id: r.ID, user: int32(r.User), submit: r.Submit, nodes: r.Nodes, needs: r.Needs, work: r.Work, due: math.Inf(1), deadline: r.SLA.Deadline}
	if !r.SLA.GoesOn() {
		j.due = r.Due()
	}
	reason := contracts.TooFewHosts
	if j.class = p.cheapest(r); j.class != nil {
		if reason = p.consider(p, now, j, r); reason == contracts.None && p.late(j, now) {
			reason = contracts.TooLate
		}
	}
	if reason != contracts.None {
		var numbers contracts.Numbers
		if j.class != nil {
			_, numbers = p.terms(p, j)
		}
		p.say(contracts.Refuse, i, &contracts.Decision{Reason: reason, Numbers: numbers})
		return
	}
	p.number[i] = j
	p.jobs = append(p.jobs, j)
	p.enqueue(j, m)
}

// cheapest returns the class in which r costs least at the current prices. It returns nil if
// no class has enough hosts that could run r when idle.
func (p *Policy) cheapest(r *contracts.Request) (best *class) {
	least := math.Inf(1)
	for _, c := range p.classes {
		n := 0
		for k := 0; k < len(c.hosts) && n < r.Nodes; k++ {
			if spec := p.specs[c.hosts[k]]; fits(&r.Needs, spec, spec.Offers()) {
				n++
			}
		}
		if n < r.Nodes {
			continue
		}
		if cost := float64(max(1, c.result.Price)) / c.spec.Speed; cost < least {
			best, least = c, cost
		}
	}
	return best
}

// fits reports whether a node with the given needs fits into room on a host of the given
// specification.
func fits(needs *contracts.Requirement, spec *hosts.Spec, room hosts.Resources) bool {
	return !spec.Whole && needs.Min.Resources.Zero() || needs.Fits(spec, room)
}

// late reports whether j would miss its hard deadline if it started at the given time.
func (p *Policy) late(j *job, at float64) bool { return at+j.work/j.class.spec.Speed > j.due }

func (p *Policy) enqueue(j *job, m contracts.Market) {
	p.actions = append(p.actions, contracts.Action{Verb: contracts.Enqueue, Contract: j.contract, Place: len(m.Waiting())})
	p.again = true
}

// refuse rejects j, which waits. If j has already waited with its bid, the reason is that it
// was outbid.
func (p *Policy) refuse(j *job) {
	reason := contracts.TooLate
	if j.waited && !j.onDemand && !j.repeat && !p.unpaid {
		reason = contracts.Outbid
	}
	p.reject(j, reason)
}

func (p *Policy) reject(j *job, reason contracts.Reason) {
	_, numbers := p.terms(p, j)
	p.say(contracts.Refuse, j.contract, &contracts.Decision{Reason: reason, Numbers: numbers})
	p.remove(j)
}

// say appends an action with the given verb, contract and decision.
func (p *Policy) say(verb contracts.Verb, i int32, d *contracts.Decision) *contracts.Action {
	p.decisions = append(p.decisions, d)
	p.actions = append(p.actions, contracts.Action{Verb: verb, Contract: i, Part: contracts.All, Decision: d})
	a := &p.actions[len(p.actions)-1]
	if verb == contracts.Admit || verb == contracts.Refuse || verb == contracts.Announce {
		a.Part = 0
	}
	return a
}

// remove deletes the record of j, which has ended.
func (p *Policy) remove(j *job) {
	if j == nil {
		return
	}
	delete(p.number, j.contract)
	if i := slices.Index(p.jobs, j); i >= 0 {
		p.jobs = slices.Delete(p.jobs, i, i+1)
	}
}

// carried finds the admissions that the broker rejected.
func (p *Policy) carried() {
	for k := range p.actions {
		if a := &p.actions[k]; a.Verb == contracts.Admit && a.Decision.Verdict == contracts.Reject {
			p.remove(p.number[a.Contract])
			p.again = true
		}
	}
}

// pass starts waiting jobs on free units, unless a decision awaits its clearing.
func (p *Policy) pass(now float64) {
	if p.again = false; !p.pending {
		p.fill(p, now)
	}
	for _, j := range p.jobs {
		j.waited = j.waited || j.state == waiting
	}
}

// expire rejects waiting jobs that would end too late if they started at the given time. It
// considers only the jobs for which considered returns true.
func (p *Policy) expire(at float64, considered func(*job) bool) {
	for i := 0; i < len(p.jobs); i++ {
		if j := p.jobs[i]; j.state == waiting && p.late(j, at) && considered(j) {
			p.refuse(j)
			i--
		}
	}
}

// tick carries out the decision that is due, and then makes the decision for the next
// clearing. If the period of notice is a whole period, both happen at the same time.
func (p *Policy) tick(now float64, v contracts.View) {
	for {
		switch at := float64(p.next) * p.Every; {
		case p.pending && at <= now:
			p.update(v)
			p.clear(now)
			for k := range p.actions {
				p.unsettled = p.unsettled || p.actions[k].Verb != contracts.Announce && p.actions[k].Verb != contracts.Rebid
			}
			p.next++
			p.pending, p.again = false, true
			p.giveUp()
		case !p.pending && at-p.notice <= now:
			p.concerns = len(p.jobs) > 0
			p.stalled++
			p.update(v)
			p.expire(at, func(*job) bool { return true })
			p.unsettled = len(p.actions) > 0
			p.decide(p, now, at)
			p.pending = true
			for _, j := range p.jobs {
				j.waited = j.waited || j.state == waiting
			}
		default:
			return
		}
	}
}

// giveUp cancels the suspended jobs after too many decisions without progress. Jobs that take
// turns would never end if the work to restore a job is at least the work done until the next
// suspension. While more requests or hard deadlines are ahead, however, the turns can change.
func (p *Policy) giveUp() {
	ends := func(j *job) bool { return !math.IsInf(j.due, 1) }
	if p.stalled <= patience || !p.alone || slices.ContainsFunc(p.jobs, ends) {
		return
	}
	for _, j := range slices.Clone(p.jobs) {
		if j.state == paused {
			p.end(j)
		}
	}
}

// update records the work done by the running jobs.
func (p *Policy) update(v contracts.View) {
	for _, j := range p.jobs {
		if j.state == running {
			if p.progress(j, v); j.done > j.most {
				j.most, p.stalled = j.done, 0
			}
		}
	}
}

// progress records the work done by j, which is running.
func (p *Policy) progress(j *job, v contracts.View) {
	for _, h := range j.on {
		for k := range v.On(h) {
			a := &v.On(h)[k]
			if c := v.Contract(a.Contract); c.ID == j.id {
				j.done = (c.Done + c.Rate*(p.clock-c.At)) / float64(j.nodes)
				return
			}
		}
	}
}

// clear appends the actions that carry out the decision.
func (p *Policy) clear(now float64) {
	for _, j := range slices.Clone(p.jobs) {
		if j.state == running && j.takes && !j.wins {
			p.interrupt(j, now)
		}
	}
	for i, c := range p.classes {
		units := 0
		for _, n := range c.result.Units {
			units += n
		}
		numbers := contracts.Numbers{
			contracts.Counted("market", i), contracts.Counted("price", int(c.result.Price)),
			contracts.Counted("units", units), contracts.Counted("offered", c.offered),
		}
		if c.result.Traded {
			numbers = append(numbers, contracts.Counted("low", int(c.result.Low)), contracts.Counted("high", int(c.result.High)))
		}
		p.say(contracts.Announce, 0, &contracts.Decision{Numbers: numbers})
	}
	for _, j := range p.jobs {
		if j.state == running && j.takes && j.wins {
			p.renew(j)
		}
	}
	for _, j := range slices.Clone(p.jobs) {
		if j.state != running && j.takes && j.wins {
			p.launch(j, j.to)
		} else if j.state == waiting && j.takes && !j.wins && p.Losers == "leave" && !j.repeat {
			reason := contracts.Outbid
			switch {
			case p.unpaid:
				reason = contracts.NoRoom
			case j.bid > j.class.result.Price:
				reason = doesNotFit
			}
			p.reject(j, reason)
		}
	}
	for _, j := range p.jobs {
		j.takes, j.wins, j.to = false, false, nil
	}
}

// renew sets the new rate of j, which keeps its units. It moves j off units that were not
// sold. If j has won units on other hosts, renew suspends j until all such jobs have left
// their hosts.
func (p *Policy) renew(j *job) {
	if p.unpaid {
		return
	}
	c, unsold := j.class, false
	for a := range c.book.Asks {
		if c.several {
			break
		}
		if ask := &c.book.Asks[a]; ask.On > 0 && c.bidders[ask.On-1] == j && !c.result.Sold[a] {
			unsold = true
		}
	}
	switch {
	case c.several && j.to != nil && !slices.Equal(j.to, j.on):
		p.suspend(j)
	case !unsold:
		rate, _ := p.terms(p, j)
		p.say(contracts.Rebid, j.contract, &contracts.Decision{Placements: placements(j.on, rate)})
	default:
		on := j.on
		p.suspend(j)
		p.launch(j, on)
	}
}

// placements returns placements on the given hosts, all with the same bid.
func placements(on []hosts.ID, bid market.Rate) (out []contracts.Placement) {
	for _, h := range on {
		out = append(out, contracts.Placement{Host: h, Bid: bid})
	}
	return out
}

// interrupt removes j from its units.
func (p *Policy) interrupt(j *job, now float64) {
	if p.interrupted == "end" {
		p.end(j)
		return
	}
	p.suspend(j).Lose = p.interrupted == "restart"
	if p.interrupted == "restart" {
		j.done = 0
	}
	j.takes = false // the buyer may want other units now
	if b, ok := p.seller.(interface {
		interrupted(p *Policy, j *job, now float64)
	}); ok {
		b.interrupted(p, j, now)
	}
}

// end cancels the contract of j, which is charged the accrued charges.
func (p *Policy) end(j *job) {
	p.free(j)
	p.actions = append(p.actions, contracts.Action{Verb: contracts.Release, Contract: j.contract, Due: 1, Of: 1})
	p.remove(j)
}

func (p *Policy) suspend(j *job) *contracts.Action {
	p.free(j)
	j.state, j.on = paused, nil
	p.actions = append(p.actions, contracts.Action{Verb: contracts.Suspend, Contract: j.contract, Part: contracts.All})
	return &p.actions[len(p.actions)-1]
}

// free removes the tasks of j from the records of its hosts. Nodes of j that have ended before
// the others are already removed.
func (p *Policy) free(j *job) {
	for k, h := range j.on {
		if j.placed == p.events || p.holds(h, j) {
			p.load[h]--
			p.room[h] = p.room[h].Add(j.holds[k])
			p.guessed = append(p.guessed, h)
		}
	}
}

// holds reports whether a task of j was on h before the current event.
func (p *Policy) holds(h hosts.ID, j *job) bool {
	return slices.ContainsFunc(p.view.On(h), func(a contracts.Allocation) bool { return p.view.Contract(a.Contract).ID == j.id })
}

// launch starts j, which is waiting or paused, on units of its class. It first uses sold units
// on the hosts in first, and then the free units on the lowest-numbered hosts. It reports
// whether there were enough units.
func (p *Policy) launch(j *job, first []hosts.ID) bool {
	on := p.units(j, first)
	if on == nil {
		return false
	}
	rate, numbers := p.terms(p, j)
	d := &contracts.Decision{Verdict: contracts.Accept, Placements: placements(on, rate), Numbers: numbers, Rated: true}
	if j.state == paused {
		a := p.say(contracts.Launch, j.contract, d)
		if p.interrupted != "restart" || j.done > 0 { // there is no work to restore if it is lost
			a.Restore = p.Restore
		}
	} else {
		p.say(contracts.Admit, j.contract, d)
	}
	j.state, j.on, j.holds, j.placed, j.repeat = running, on, nil, p.events, false
	for _, h := range on {
		holds := j.needs.Holds(p.specs[h], p.room[h])
		j.holds = append(j.holds, holds)
		p.load[h], p.room[h] = p.load[h]+1, p.room[h].Sub(holds)
		p.guessed = append(p.guessed, h)
	}
	return true
}

// units returns hosts for the nodes of j in the class of j, or nil if there are too few. While
// a decision with asks is being carried out, only sold units count.
func (p *Policy) units(j *job, first []hosts.ID) (on []hosts.ID) {
	c := j.class
	sold := func(hosts.ID) bool { return true }
	if j.takes && p.asks {
		left := map[hosts.ID]int{}
		for a := range c.book.Asks {
			if c.result.Sold[a] {
				left[hosts.ID(c.book.Asks[a].Seller)]++
			}
		}
		sold = func(h hosts.ID) bool { return p.load[h] < left[h] }
	}
	for _, list := range [...][]hosts.ID{first, c.hosts} {
		for _, h := range list {
			if len(on) < j.nodes && p.present[h] && p.load[h] < p.tasks[h] && fits(&j.needs, p.specs[h], p.room[h]) && sold(h) && !slices.Contains(on, h) {
				on = append(on, h)
			}
		}
	}
	if len(on) < j.nodes {
		return nil
	}
	slices.Sort(on)
	return on
}

// roomIn returns the number of hosts of c with a free processor.
func (p *Policy) roomIn(c *class) (n int) {
	for _, h := range c.hosts {
		if p.present[h] && p.load[h] < p.tasks[h] {
			n++
		}
	}
	return n
}
