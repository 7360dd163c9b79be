package experiments

import (
	"fmt"
	"math"
	"slices"

	"bourse/contracts"
	"bourse/contracts/floor"
	"bourse/contracts/policies"
	"bourse/experiments/metrics"
	"bourse/hosts"
	"bourse/market"
)

// A retold repeats the decisions of a run slowly. At the time of each event, it advances all
// hosts with simple sums and reallocates the hosts on which a task has started or ended. It
// takes the times at which tasks started and ended from the record. It computes the shares, the
// work and the charges of the tasks, and from these how each contract must have ended.
type retold struct {
	run     *toldRun
	rule    shareRule
	payment string
	cap     float64
	floor   float64 // $/h of a processor
	reserve float64 // $/s of a processor that is not scarce
	leaving floor.Leaving
	charged bool
	submits bool    // whether submissions are processed before other events at the same time
	closes  float64 // time at which the run is closed, +Inf if never; events due then do not happen
	renew   float64
	raised  []tapeEvent // bids for processors that were renewed or have lost their weight
	began   []int64     // bids for processors of the tasks that started, in order
	held    []replayKind

	now   float64
	hosts []*replayHost
	all   map[contracts.ID]*replayContract
	order []*replayContract
}

type replayHost struct {
	cpus, speed float64
	room        hosts.Resources
	on          []*replayTask // in order of start
	away        bool
	left        float64 // time at which the host left last; NaN if it did not
	dirty       bool    // whether the host must be allocated again
	leaves      float64 // time of the last departure since the last allocation
	changes     []float64
}

type replayTask struct {
	of    *replayContract
	node  int
	host  *replayHost
	at    int   // index of the host
	nodes int   // number of nodes of a gang, which equals the contract's number without a plan
	bid   int64 // nano-dollars per second; 0 once the contract's money is spent
	bade  int64 // bid before the money was spent

	promised float64 // $/s that cac promised
	vector   replayVector

	rate, paying float64
	done, owed   float64
	keep, target float64 // shares by the rules deadline and librasla
	gone         bool
}

// A replayContract is the reconstructed state of a contract.
type replayContract struct {
	request *contracts.Request
	work    float64 // true runtime of a node
	nodes   []*replayTask
	gang    bool

	start, end      float64 // NaN until then
	renew           float64 // time of the next bid; +Inf means never
	holds           float64 // earliest time at which its money can be spent; NaN if it must be computed
	byDue           float64
	late            bool // its deadline has passed
	waits, broken   bool
	border          bool    // whether a tick of work decides if its work is done
	recalled        float64 // time at which a host that ran it left; NaN if none has
	killed, takenIn bool    // killed: stopped at its estimate; takenIn: cancelled by the owner
	back            float64 // time at which the owner cancels it; +Inf means never
	fee             float64
	open            bool
	losses          int
	wasted          float64
	arrears         []*replayTask // payment for lost work
}

// due returns the time of the contract's deadline.
func (c *replayContract) due() float64 {
	if c.request.OnDemand {
		return math.Inf(1)
	}
	return c.request.Submit + c.request.SLA.Deadline
}

func (c *replayContract) goesOn() bool { return c.request.SLA.Soft || c.request.SLA.RunsOn }

func (c *replayContract) perHost() bool { return c.request.PerHost || c.gang }

// done returns the work done over all nodes.
func (c *replayContract) done() (sum float64) {
	for _, k := range c.nodes {
		sum += k.done
	}
	return sum
}

func (c *replayContract) total() float64 { return c.work * float64(c.request.Nodes) }

// rounding returns the largest rounding error of the work of a node on h by the given time:
// one part in 10^9, plus the work of the host in one or two float64 steps of time.
func (c *replayContract) rounding(h *replayHost, at float64) float64 {
	moment := math.Nextafter(at, math.Inf(1)) - at
	return 1e-9*c.work + 2*moment*h.cpus*h.speed
}

// running reports whether a task of the contract is on a host.
func (c *replayContract) running() bool {
	return slices.ContainsFunc(c.nodes, func(k *replayTask) bool { return !k.gone })
}

func newReplay(run *toldRun) (*retold, error) {
	c := run.set.conf
	w := &retold{
		run: run, submits: c.Market.Instant != endsFirst, closes: math.Inf(1), payment: c.Market.Payment, cap: c.Fleet.Cap,
		all: make(map[contracts.ID]*replayContract),
	}
	if run.Closed {
		w.closes = run.set.horizon()
	}
	w.floor, w.reserve, w.held = c.Fleet.Floor.CPU, c.Market.Reserve, run.kinds()
	if run.offer.Name == "be" {
		w.renew = c.Market.Renew
	}
	if about := policies.Of(run.offer.Name); (about.Single || about.Books) && w.cap >= 1 { // the cap applies to a node, and a task has several nodes
		w.cap = 0
	}
	var err error
	if w.rule, err = ruleOf(run.offer); err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"spot", "scarce", "admission", "percentile", "usage", "resource", "bid", "budget", "free"}, w.payment) {
		return nil, fmt.Errorf("the matrix cannot replay the payment rule %s: want its formula beside the others", w.payment)
	}
	for h := range c.Fleet.Hosts {
		host := &replayHost{cpus: c.Fleet.CPUs, speed: c.Fleet.Speed, left: math.NaN()}
		if n := len(c.Fleet.Speeds); n > 0 {
			host.speed = c.Fleet.Speeds[h%n]
		}
		host.room = run.tape.parts.Fleet[h].Spec().Room
		if p := run.tape.parts.Availability; p != nil {
			w.leaving, w.charged = p.Leaving, p.Charged
			host.away = true
			for _, v := range p.Histories[h].Intervals() {
				if v.End > 0 {
					host.changes = append(host.changes, max(0, v.Start), v.End)
				}
			}
		}
		w.hosts = append(w.hosts, host)
	}
	return w, nil
}

// tick returns the next time at which a deadline passes or a host comes or leaves.
func (w *retold) tick() float64 {
	next := math.Inf(1)
	for _, h := range w.hosts {
		if len(h.changes) > 0 {
			next = min(next, h.changes[0])
		}
	}
	for _, c := range w.order {
		if !c.late && math.IsNaN(c.end) {
			next = min(next, c.due())
		}
	}
	return next
}

// pass advances all hosts to now, through the ticks on the way, and renews bids before now.
func (w *retold) pass(now float64) {
	for at := w.tick(); at <= now; at = w.tick() {
		w.renewals(at, false)
		w.bring(at)
		for _, c := range w.order {
			if !c.late && math.IsNaN(c.end) && c.due() <= at {
				c.late, c.byDue = true, c.done()
			}
		}
		for _, h := range w.hosts {
			for len(h.changes) > 0 && h.changes[0] <= at {
				if h.away = !h.away; h.away {
					h.left = at
				}
				h.changes, h.dirty = h.changes[1:], true
			}
		}
	}
	w.renewals(now, false)
	w.bring(now)
	w.takeBack(now)
	for _, c := range w.order {
		// A waiting contract may still be placed at its deadline if submissions are
		// processed first.
		if c.waits && (c.due() < now || c.due() <= now && !w.submits && now < w.closes) {
			c.end, c.broken, c.waits = c.due(), true, false
		}
	}
}

// renewals makes contracts bid their remaining budgets over their remaining time, up to
// now. If requested, it includes renewals at now.
func (w *retold) renewals(now float64, just bool) {
	for {
		var next *replayContract
		for _, c := range w.order {
			if c.running() && !(next != nil && next.renew <= c.renew) {
				next = c
			}
		}
		if next == nil || next.renew > now || next.renew == now && !just {
			return
		}
		at := next.renew
		w.bring(at)
		w.raised = append(w.raised, next.bidAgain(at)...)
		next.renewAfter(at, w.renew)
	}
}

// bidAgain distributes the remaining nano-dollars per second over the current bids, at
// least one each.
func (c *replayContract) bidAgain(now float64) (raised []tapeEvent) {
	left, stand := c.request.SLA.Budget.Float64(), 0.0
	for _, k := range c.arrears {
		left -= k.owed
	}
	for _, k := range c.nodes {
		if left -= k.owed; !k.gone {
			stand += float64(k.bid) / 1e9
		}
	}
	for _, k := range c.nodes {
		if bid := math.Floor(float64(k.bid)*max(0, left)/(c.due()-now)/stand + 0.01); !k.gone && stand > 0 && bid < 1<<53 {
			k.bid, k.host.dirty, c.holds = max(1, int64(bid)), true, math.NaN()
			k.bade = k.bid
			raised = append(raised, tapeEvent{at: now, id: c.request.ID, node: k.node, bid: market.Rate(k.part(0))})
		}
	}
	return raised
}

// renewAfter sets the time at which c bids again, if that is before its deadline.
func (c *replayContract) renewAfter(after, period float64) {
	if c.renew = after + period; !(period > 0 && c.renew < c.due()) || c.request.OnDemand {
		c.renew = math.Inf(1)
	}
}

// takeBack cancels waiting contracts whose owners wanted to cancel before now. At exactly
// that time, a contract may still be placed.
func (w *retold) takeBack(now float64) {
	for _, c := range w.order {
		if c.waits && c.back < min(now, w.closes) && c.back < c.due() {
			c.end, c.takenIn, c.waits, c.fee = c.back, true, false, 1
		}
	}
}

// bring advances time in a period in which the only events are contracts that run out of
// money.
func (w *retold) bring(now float64) {
	for now > w.now {
		next, c := w.spends()
		if next > now {
			next, c = now, nil
		}
		if w.wait(next); c != nil {
			w.spend(c)
		}
	}
	if next, c := w.spends(); c != nil && !w.submits && next <= now+4*contracts.Moment(now) {
		w.spend(c)
		w.bring(now)
	}
}

// spends returns the first contract that will have spent its budget if nothing changes, and the
// time at which this happens. It returns nil if there is no such contract. Bids planned to last
// until a deadline do so within rounding errors: a hundredth of a nano-dollar per second and
// node, and one part in 10^9.
func (w *retold) spends() (at float64, first *replayContract) {
	at = math.Inf(1)
	if w.rule.name != "auction" || w.payment == "budget" {
		return at, nil
	}
	for _, h := range w.hosts {
		if h.dirty {
			w.allocate(h)
		}
	}
	for _, c := range w.order {
		left, bids, pays := c.money()
		if bids == 0 {
			continue
		}
		if span := c.due() - w.now; math.IsNaN(c.holds) {
			if c.holds = 0; !math.IsInf(span, 1) && (bids-1e-11*float64(len(c.nodes)))*span <= left*(1+1e-9) {
				c.holds = c.due()
			}
		}
		gone := math.Inf(1)
		switch {
		case left <= 1e-12*c.request.SLA.Budget.Float64(): // whatever the contract pays
			gone = max(w.now, c.holds)
		case pays > 0:
			gone = max(w.now, c.holds, w.now+left/pays)
		}
		if gone < at {
			at, first = gone, c
		}
	}
	return at, first
}

// money returns the remaining budget of c, its bids, and its payment per second.
func (c *replayContract) money() (left, bids, pays float64) {
	left = c.request.SLA.Budget.Float64()
	for _, k := range c.arrears {
		left -= k.owed
	}
	for _, k := range c.nodes {
		if left -= k.owed; !k.gone {
			bids += float64(k.bid) / 1e9
			pays += k.paying
		}
	}
	return left, bids, pays
}

// spend removes the weight of c because its money is spent.
func (w *retold) spend(c *replayContract) {
	for _, k := range c.nodes {
		if !k.gone {
			w.bid(k, 0)
		}
	}
}

// bid sets the bid of k.
func (w *retold) bid(k *replayTask, bid int64) {
	k.bid, k.host.dirty = bid, true
	w.raised = append(w.raised, tapeEvent{at: w.now, id: k.of.request.ID, node: k.node, bid: market.Rate(k.part(0))})
}

// refund restores the weight of c if it has money.
func (w *retold) refund(c *replayContract) {
	c.holds = math.NaN()
	if left, _, _ := c.money(); left > 1e-12*c.request.SLA.Budget.Float64() {
		for _, k := range c.nodes {
			if !k.gone && k.bid == 0 {
				w.bid(k, k.bade)
			}
		}
	}
}

// wait advances time in a period without events.
func (w *retold) wait(now float64) {
	span := now - w.now
	if !(span > 0) {
		return
	}
	for _, h := range w.hosts {
		if h.dirty {
			w.allocate(h)
		}
		for _, k := range h.on {
			k.done += k.rate * span
			k.owed += k.paying * span
		}
	}
	w.now = now
}

// follow applies entry e.
func (w *retold) follow(e tapeEvent) error {
	if e.at < w.now {
		return fmt.Errorf("%v is after %v", e, w.now)
	}
	w.pass(e.at)
	c := w.all[e.id]
	switch e.what {
	case taskStarts:
		return w.start(e)
	case taskLeaves:
		return w.leave(e)
	case repeatEnds:
		if c != nil && c.waits {
			c.end, c.broken, c.waits = e.at, true, false
		}
	case bookEnds:
		c.end = e.at
	case bookKills:
		c.end, c.killed = e.at, true
	case ownerCancel:
		if c == nil {
			c = w.contract(e)
		}
		c.end, c.takenIn, c.fee = e.at, true, e.due
	}
	return nil
}

// contract returns the contract of e, which may be new.
func (w *retold) contract(e tapeEvent) *replayContract {
	if c := w.all[e.id]; c != nil {
		return c
	}
	c := &replayContract{
		request: w.run.tape.asked[e.id], work: w.run.truth(e.id),
		gang: w.rule.name == "planned" && w.run.Outcome.Booked, start: math.NaN(), end: math.NaN(), recalled: math.NaN(),
		back: w.run.back(e.id),
	}
	c.late = c.due() <= w.now // no work can be done by its deadline any more
	w.all[e.id] = c
	w.order = append(w.order, c)
	return c
}

func (w *retold) start(e tapeEvent) error {
	if !w.submits && w.all[e.id] == nil {
		w.renewals(e.at, true)
	}
	c, h := w.contract(e), w.hosts[e.host]
	switch {
	case h.away && !(w.submits && h.left == e.at): // the host leaves after the submissions at this time
		return fmt.Errorf("%v: the host is away", e)
	case e.at < c.request.Submit:
		return fmt.Errorf("%v: it was submitted at %v", e, c.request.Submit)
	case c.gang && e.at < c.request.Submit+c.request.Lead:
		return fmt.Errorf("%v: it opens at %v", e, c.request.Submit+c.request.Lead)
	case !c.request.Packed && slices.ContainsFunc(h.on, func(k *replayTask) bool { return k.of == c }):
		return fmt.Errorf("%v: it is there already", e)
	}
	if h.dirty {
		w.allocate(h)
	}
	if c.waits {
		c.nodes, c.waits, c.recalled = nil, false, math.NaN()
	}
	k := &replayTask{of: c, node: e.node, host: h, at: int(e.host), nodes: e.nodes, bid: int64(e.bid), bade: int64(e.bid), promised: e.promised.Float64()}
	c.holds = math.NaN()
	if !c.gang {
		k.nodes = c.request.Nodes
	}
	if err := w.joins(c, k, e.at); err != nil {
		return fmt.Errorf("%v: %w", e, err)
	}
	c.nodes = append(c.nodes, k)
	if math.IsNaN(c.start) {
		c.start = e.at
	}
	k.vector = w.vector(c.request, h)
	w.began = append(w.began, k.part(0))
	h.on = append(h.on, k)
	h.dirty, h.leaves = true, math.NaN()
	c.renewAfter(e.at, w.renew)
	return nil
}

// joins checks that the parts of a booked contract are on different hosts and, if books do
// not suspend, start together.
func (w *retold) joins(c *replayContract, k *replayTask, now float64) error {
	if !c.gang {
		return nil
	}
	for _, other := range c.nodes {
		if (other.host == k.host) != (other.node == k.node) {
			return fmt.Errorf("part %d is on host %d, and so is part %d", k.node, k.at, other.node)
		}
	}
	if preempt := w.run.offer.Choice.Options()["preempt"]; preempt != true && len(c.nodes) > 0 && c.start != now {
		return fmt.Errorf("another part starts at %v", c.start)
	}
	return nil
}

// leave removes a task from its host and returns the reason.
func (w *retold) leave(e tapeEvent) error {
	c, h := w.all[e.id], w.hosts[e.host]
	i := slices.IndexFunc(h.on, func(k *replayTask) bool { return k.of == c })
	if i < 0 {
		return fmt.Errorf("%v: it is not there", e)
	}
	k := h.on[i]
	if off := math.Abs(k.done - e.done); off > w.fuzz(c, k) {
		return fmt.Errorf("%v: %v of its work is done, by the shares that it must have had", e, k.done)
	}
	until, idle := w.until(c), k.done == 0
	deserted := w.leaving != floor.Suspend && (c.recalled == e.at ||
		slices.ContainsFunc(c.nodes, func(k *replayTask) bool { return k.host.left == e.at && k.host.away && (!k.gone || k.host == h) }))
	if deserted {
		k.done = e.done // a task on a host that leaves does not end a tick early
	} else if tick := w.tickOfWork(); c.perHost() && (e.done == until || tick > 0 && until-e.done <= tick) {
		k.done = until                                               // the remaining work of the task was zero
		c.border = e.done != until && !c.goesOn() && e.at >= c.due() // or the task did all its work
	}
	if h.dirty && h.leaves != e.at {
		w.allocate(h)
	}
	h.on = slices.Delete(h.on, i, i+1)
	k.gone, h.dirty, h.leaves = true, true, e.at
	if c.gang {
		return nil // the planner determines when the task ends
	}
	closed := e.at == w.closes
	left, slack, nodes := until-k.done, w.fuzz(c, k), 1
	if !c.perHost() {
		left, slack, nodes = c.total()-c.done(), w.sumFuzz(c), len(c.nodes)
	}
	if deserted {
		slack -= float64(nodes) * w.tickOfWork()
	}
	finished := left <= slack
	if finished && e.at == c.back && !c.gang && w.run.job(e.id).Contract.Outcome == contracts.Cancelled {
		c.takenIn, c.fee, c.border = true, 1, true // or the work was done, within rounding errors or a tick
	}
	if deserted && idle {
		finished = false // however little work it has, because its host left before it started
	}
	over := finished || closed || !c.goesOn() && e.at >= c.due()
	switch {
	case closed:
		c.open = true
	case over || c.broken:
	case !deserted && e.at == c.back:
		c.takenIn, c.fee = true, 1
	case !deserted:
		if c.perHost() || !c.running() {
			return fmt.Errorf("%v: %v of its work is done, of %v, its deadline is %v, and its host stays", e, k.done, c.work, c.due())
		}
	case w.leaving == floor.Lose && h.left == e.at && h.away:
		c.losses++
		c.wasted += k.done
		if k.done = 0; !w.charged {
			k.owed = 0
			w.refund(c)
		}
		c.broken = c.perHost() || !c.running()
	case w.leaving == floor.Resubmit:
		if c.recalled = e.at; !c.running() {
			w.recall(c)
		}
	}
	if !c.running() && !c.waits {
		c.end = e.at
	}
	return nil
}

// until returns the work at which a task of c ends. It is all the work or, if tasks are
// killed when they exceed their estimate, at most the estimate (Libra, §4.1). A tick is
// subtracted from a task's remaining work before this end. It does not turn a killed task
// into a completed task.
func (w *retold) until(c *replayContract) float64 {
	if w.rule.name == "deadline" && w.rule.overrun == "kill" {
		return min(c.work, c.request.Work)
	}
	return c.work
}

// recall stops c on all hosts, so that c can be placed again.
func (w *retold) recall(c *replayContract) {
	c.losses++
	for _, k := range c.nodes {
		c.wasted += k.done
		if w.charged && k.owed > 0 {
			c.arrears = append(c.arrears, &replayTask{at: k.at, owed: k.owed})
		}
		k.done, k.owed = 0, 0
	}
	if c.waits = !(c.late && c.due() < w.now) && !w.dropped(); !c.waits {
		c.broken = true
	}
}

// dropped reports whether a contract whose host left must not be placed again.
func (w *retold) dropped() bool {
	return w.run.offer.Name == "queue" && w.run.offer.Choice.Options()["resubmit"] == "drop"
}

// fuzz returns the tolerance for the work of k: rounding and, if rules depend on the
// deadline, one tick of work that ends a task early.
func (w *retold) fuzz(c *replayContract, k *replayTask) float64 {
	return 4*c.rounding(k.host, w.now) + 1e-9*k.done + w.tickOfWork()
}

// tickOfWork is the maximum remaining work of a task that ends.
func (w *retold) tickOfWork() float64 {
	if w.rule.name == "deadline" || w.rule.name == "librasla" {
		return tickOfTime
	}
	return 0
}

func (w *retold) sumFuzz(c *replayContract) (sum float64) {
	for _, k := range c.nodes {
		sum += w.fuzz(c, k)
	}
	return sum
}

// job returns the job of the given contract.
func (run *toldRun) job(id contracts.ID) *metrics.Job {
	return &run.Jobs[slices.IndexFunc(run.Jobs, func(j metrics.Job) bool { return j.ID == int64(id) })]
}

// back returns the time at which the owner cancels a job; +Inf means never.
func (run *toldRun) back(id contracts.ID) float64 {
	if j := run.job(id); j.Cancel > 0 {
		return j.Arrival + j.Cancel
	}
	return math.Inf(1)
}

// truth returns the true work of one node of a job.
func (run *toldRun) truth(id contracts.ID) float64 { return run.job(id).Runtime }
