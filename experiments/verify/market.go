package verify

import (
	"container/heap"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/bank/audit"
)

// A market recomputes the tasks on hosts and their charges from the bids. After every change
// on a host, it allocates the host's processors again.
type market struct {
	rules *Rules
	dues  []*contract // contracts that continue after their deadlines, ordered by deadline
	again renewals    // sorted by time
	looks looks       // sorted by time
	few   int         // maximum number of tasks per host that are handled individually
	came  uint64      // number of tasks created so far

	watched int  // number of watched contracts
	unsure  bool // whether the time at which some contract spent its value is not known

	prices prices
}

// A machine is the state of a host at one time. If a machine has many tasks, most of them are
// in its crowd. A change that affects the whole crowd is recorded only once (see tree.go).
type machine struct {
	name  string
	to    string // account of the host
	began bool   // whether the machine is in use
	at    float64
	speed float64
	cpus  float64
	price int64   // sum of all bids, in nano-dollars per second
	alone []*task // tasks handled individually, in descending order of urge
	crowd *task   // other tasks, if bids determine the shares; nil if there are none
	each  float64 // processors per nano-dollar per second, for tasks below their limits

	ended  float64 // last time at which tasks ended by themselves
	freed  int64   // sum of the bids of these tasks, in nano-dollars per second
	placed int64   // number of the last entry that placed a contract on this host
	nodes  int     // number of nodes of that contract on this host
	own    int64   // sum of the bids of these nodes, in nano-dollars per second

	// These slices have one element per resource, as a vector has: the amount held, the sum of
	// all bids, and the sum of the bids of the tasks that left at time ended.
	held       []float64
	sums, gone []int64
}

// A task is the part of a contract that runs on one host.
type task struct {
	of       *contract
	host     *machine
	bid      int64   // bid in nano-dollars per second
	most     float64 // maximum number of processors; 0 means no limit
	promised int64   // minimum price in nano-dollars per second, under payment rule percentile
	met      int64   // lower bound of the other bids at the time of placement
	over     int64   // maximum excess of the other bids over that bound
	need     float64 // work after which the task ends by itself; +Inf if it does not
	pace     float64 // maximum work per second on its own processor

	weight float64     // weight by which the host is shared
	limit  float64     // maximum number of processors that the task receives
	urge   float64     // weight divided by limit; tasks with a higher urge reach their limits first
	claim  float64     // processors that the task could use if it were the only task on the host
	part   float64     // fraction of the charge that the task pays: 1, or 1 / nodes of its contract for the payment rule resource
	on     bool        // whether the task is on its host
	rate   float64     // work per second while the task is not in the crowd
	paying float64     // payment in $/s while the task is not in the crowd
	done   float64     // work done
	owed   float64     // amount owed in nano-dollars
	extra  float64     // maximum excess of the true payment over that amount
	more   float64     // rate at which the excess grows, in $/s
	paid   audit.Money // amount that the settlement pays to the task's host

	vector *vector   // nil if the task claims only processors and holds no resource with a floor price
	holds  []float64 // as in a vector

	place // position in the crowd
}

func newMarket(r *Rules) *market { return &market{rules: r, few: 16} }

// begin initializes h when the market first uses it. The name of a host is "h" followed by
// its number.
func (m *market) begin(h *machine, now float64) {
	h.began, h.at, h.speed, h.cpus = true, now, 1, m.rules.cpusOf(h.name)
	if i, ok := number(h.name); ok && len(m.rules.Speeds) > 0 {
		h.speed = m.rules.Speeds[i%len(m.rules.Speeds)]
	}
}

// number returns the number in a host's name.
func number(host string) (int, bool) {
	i, err := strconv.Atoi(strings.TrimPrefix(host, "h"))
	return i, err == nil && i >= 0
}

// cpusOf returns the number of processors of a host.
func (r *Rules) cpusOf(host string) float64 {
	if i, ok := number(host); ok && len(r.Sizes) > 0 {
		return r.Sizes[i%len(r.Sizes)]
	}
	return r.CPUs
}

// usable returns the number of a host's processors that a task with the given limit can use. A
// limit of 0 means no limit.
func (r *Rules) usable(cpus, limit float64) float64 {
	for _, most := range [...]float64{r.Cap, limit} {
		if most > 0 {
			cpus = min(cpus, most)
		}
	}
	return cpus
}

// instant is the relative rounding error within which two times count as equal.
const instant = 1e-12

// met returns bounds on the price on h for a task that arrives now. The bounds differ if
// another task ends at the same time, because it may have left before or after the arrival.
func (h *machine) met(now float64) (least, most int64) {
	least, most = h.price, h.price
	if now-h.ended <= instant*now {
		most += h.freed
	}
	for _, n := range h.alone {
		if n.ends(now) {
			least -= n.own()
		}
	}
	return least - h.crowd.ending(instant*now*h.each*h.speed), most
}

// over returns the time at which the first task in the crowd of h completes its work.
func (h *machine) over() float64 {
	if h.crowd == nil || !(h.each > 0) {
		return math.Inf(1)
	}
	return h.at + max(0, h.crowd.soonest)/(h.each*h.speed)
}

// capacity returns the maximum work per second of h.
func (m *market) capacity(h *machine) float64 { return h.cpus * h.speed }

// advance adds the work and the charges on h up to now. Tasks whose work is done by then leave
// the host.
func (m *market) advance(h *machine, now float64) {
	for h.at < now {
		soonest := math.Inf(1)
		for _, n := range h.alone {
			if n.rate > 0 {
				soonest = min(soonest, h.at+max(0, n.need-n.done)/n.rate)
			}
		}
		next := min(now, soonest)
		allStay := soonest > next && h.crowd == nil
		if h.crowd != nil {
			for next = min(next, h.over()); h.crowd != nil && h.over() <= next; {
				m.bring(h.crowd.first())
			}
			m.accrue(h, next-h.at)
		}
		stay := h.alone[:0]
		for _, n := range h.alone {
			over := !allStay && n.rate > 0 && h.at+max(0, n.need-n.done)/n.rate <= next
			n.owed += n.paying * (next - h.at)
			n.extra += n.more * (next - h.at)
			n.done += n.rate * (next - h.at)
			if !over {
				stay = append(stay, n)
				continue
			}
			h.free(n, next)
			n.done = n.need
			m.left(n, next)
		}
		h.at = next
		if left := h.alone[len(stay):]; len(left) > 0 {
			clear(left)
			h.alone = stay
			m.allocate(h)
		}
	}
}

// left records that task n has left its host.
func (m *market) left(n *task, at float64) {
	n.on = false
	m.count(n, at, -1)
	n.hold(-1)
}

// accrue adds the work and the payments of the given number of seconds to the tasks in the
// crowd of h. The payment of a bid w is as follows. Rule spot charges min(w, got × others).
// This is w up to a certain bid, and each/CPUs × w × (price - w) above it. Rule usage charges
// min(w, got × price), and rule bid charges w.
func (m *market) accrue(h *machine, seconds float64) {
	price, got := float64(h.price), h.each/h.cpus
	work := h.each * h.speed * seconds
	bid := gain{work: work, pay: seconds}
	switch m.rules.Payment {
	case "spot", "scarce": // if there is a crowd, no processor is free
		h.crowd.accrue(price-1/got, bid, gain{work, got * price * seconds, got * seconds})
	case "usage", "resource":
		h.crowd.all(gain{work: work, pay: min(1, got*price) * seconds})
	case "bid":
		h.crowd.all(bid)
	case "free":
		h.crowd.all(gain{work: work})
	default:
		h.crowd.all(gain{work: work, pay: math.NaN()})
	}
}

// limitOf returns the maximum number of processors that n receives and the number that it can
// use.
func (m *market) limitOf(n *task) (most, claim float64) {
	most, claim = m.rules.usable(n.host.cpus, 0), m.rules.usable(n.host.cpus, n.most)
	switch m.rules.Sharing {
	case exclusive:
		most = min(most, n.pace/n.host.speed)
		return most, most
	case turns:
		return min(most, 1), claim
	}
	return claim, claim
}

// allocate gives each task on h its processors, in proportion to the weights of the tasks.
// Capacity that a task cannot use goes to the other tasks.
func (m *market) allocate(h *machine) {
	defer m.stir(h)
	defer m.spare(h)
	for {
		capped := m.share(h)
		switch c := h.crowd; {
		case c == nil || c.urgent*h.each < below && 2*c.heaviest <= h.price:
			if m.rules.Sharing == "auction" && m.rules.Payment != "admission" && m.rules.Payment != "percentile" && m.rules.Floor == 0 && m.rules.Held == nil && len(h.alone) > max(m.few, 2*capped) && h.alone[capped].urge*h.each < below {
				m.join(h, capped)
			}
			return
		case 2*c.heaviest > h.price:
			m.bring(c.last())
		default:
			m.bring(c.top())
		}
	}
}

// below is the maximum fraction of its limit that a task in a crowd may receive. The tasks of
// a crowd are therefore below their limits by more than the rounding error, and all processors
// of a host with a crowd are in use.
const below = 1 - 1e-6

// spare sets the payments on h to the reserve price or the floor price, whichever is
// higher. It does so only if the payment rule is "scarce" and the tasks of h cannot use more
// processors than h has.
func (m *market) spare(h *machine) {
	if m.rules.Payment != "scarce" || h.crowd != nil {
		return
	}
	claims := 0.0
	for _, n := range h.alone {
		if n.bid > 0 { // tasks with a bid of zero use only free capacity
			claims += n.claim
		}
	}
	several := h.several()
	if claims > h.cpus*(1+1e-9) || several && claims >= h.cpus*(1-1e-9) {
		return
	}
	if several {
		for _, n := range h.alone {
			n.paying = max(m.floor(n), m.pays(n, 0, true, false))
		}
		return
	}
	for _, n := range h.alone {
		n.paying = min(float64(n.bid), 1e9*max(m.rules.Reserve, m.rules.Floor)*n.rate/h.speed)
	}
}

// floor returns the minimum payment of n in nano-dollars per second. It is the floor price
// of the task's processors, but at most its bid.
func (m *market) floor(n *task) float64 {
	least := 1e9 * m.rules.Floor * n.rate / n.host.speed
	if n.vector != nil {
		least += n.vector.least
	}
	return min(float64(n.bid), least)
}

// join moves tasks of h into the crowd. The first capped tasks are not moved, because they are
// at their limits. Tasks that bid more than half the price are not moved either. For all other
// tasks, the difference between price and bid is as accurate as the price.
func (m *market) join(h *machine, capped int) {
	stay := h.alone[:capped]
	for _, n := range h.alone[capped:] {
		if n.bid == 0 || n.of.watched || 2*n.bid > h.price {
			stay = append(stay, n)
		} else {
			h.crowd = h.crowd.with(n)
		}
	}
	clear(h.alone[len(stay):])
	h.alone = stay
}

// bring removes n from the crowd, if n is in it.
func (m *market) bring(n *task) {
	if !n.inside {
		return
	}
	h := n.host
	h.crowd = h.crowd.without(n)
	m.stand(n)
	m.get(n, h.each*n.weight)
}

// stand adds n to the tasks of its host that are handled individually.
func (m *market) stand(n *task) {
	h := n.host
	at := len(h.alone)
	for at > 0 && (h.alone[at-1].urge < n.urge || h.alone[at-1].urge == n.urge && h.alone[at-1].came > n.came) {
		at--
	}
	h.alone = slices.Insert(h.alone, at, n)
}

// share gives the tasks of h their processors and returns the number of tasks at their limits.
// It assumes that no task in the crowd is at its limit.
func (m *market) share(h *machine) (capped int) {
	free, sum := h.cpus, float64(h.price)
	switch m.rules.Sharing {
	case exclusive, maxmin:
		sum = float64(len(h.alone))
	case turns:
		for i, n := range h.alone {
			if n.limit = 0; i == 0 {
				n.limit, _ = m.limitOf(n)
			}
			m.get(n, n.limit)
		}
		return len(h.alone)
	}
	bidding := len(h.alone)
	for m.rules.Sharing == "auction" && bidding > 0 && h.alone[bidding-1].bid == 0 {
		bidding--
	}
	for _, n := range h.alone[:bidding] {
		if n.limit*sum > free*n.weight {
			break
		}
		free, sum = max(0, free-n.limit), sum-n.weight
		m.get(n, n.limit)
		capped++
	}
	h.each = 0
	if capped < bidding || h.crowd != nil {
		h.each, free = free/sum, 0
	}
	for _, n := range h.alone[capped:bidding] {
		m.get(n, h.each*n.weight)
	}
	m.leave(h.alone[bidding:], free)
	return capped
}

// get gives n the given number of processors.
func (m *market) get(n *task, cpus float64) {
	n.rate = cpus * n.host.speed
	others, got := n.host.price-n.own(), cpus/n.host.cpus
	if n.host.several() {
		n.paying = max(m.floor(n), n.part*m.pays(n, got, false, false))
		n.more = max(m.floor(n), n.part*m.pays(n, got, false, true)) - n.paying
		return
	}
	if m.rules.Payment == "admission" {
		others = n.met
		n.more = max(m.floor(n), charge("admission", float64(n.bid), float64(n.met+n.over), got)) - max(m.floor(n), charge("admission", float64(n.bid), float64(n.met), got))
	}
	others = max(others, n.promised)
	n.paying = max(m.floor(n), n.part*charge(m.rules.Payment, float64(n.bid), float64(others), got))
}

// charge returns the payment for a bid that receives the fraction got of a host. The sum of
// the other bids is others.
func charge(rule string, bid, others, got float64) float64 {
	switch rule {
	case "spot", "scarce", "admission", "percentile":
		return min(bid, got*others)
	case "usage", "resource":
		return min(bid, got*(bid+others))
	case "bid":
		return bid
	case "free":
		return 0
	}
	return math.NaN()
}

// weigh computes the weight, the limit, the claim and the part of n from the bid of n.
func (m *market) weigh(n *task) {
	n.limit, n.claim = m.limitOf(n)
	if n.weight, n.part = 1, 1; m.rules.Payment == "resource" {
		n.part = 1 / float64(len(n.of.tasks))
	}
	if m.rules.Sharing == "auction" {
		n.weight = float64(n.own())
	}
	if n.urge = n.weight / n.limit; m.rules.Sharing == turns {
		n.urge = 0
	}
}

// start places the tasks of d on their hosts.
func (m *market) start(now float64, d *contract) {
	for i := range d.tasks {
		n := &d.tasks[i]
		n.of = d
		m.advance(n.host, now)
		m.weigh(n)
		m.came++
		n.came, n.on = m.came, true
		m.count(n, now, 1)
		n.hold(1)
		m.stand(n)
		m.allocate(n.host)
	}
	if d.terms.RunsOn {
		m.dues = slices.Insert(m.dues, m.afterDue(d.terms.due()), d)
	}
	m.renewLater(d, now)
	m.lasts(d, now)
}

// afterDue returns the number of contracts in dues whose deadline is at or before the given
// time.
func (m *market) afterDue(at float64) int {
	i, _ := slices.BinarySearchFunc(m.dues, at, func(d *contract, at float64) int {
		if d.terms.due() <= at {
			return -1
		}
		return 1
	})
	return i
}

// takeOff removes n from the tasks of its host that are handled individually.
func (m *market) takeOff(n *task) {
	h := n.host
	i := slices.Index(h.alone, n)
	h.alone = slices.Delete(h.alone, i, i+1)
}

// stop removes the tasks of d from their hosts.
func (m *market) stop(now float64, d *contract) {
	d.renew, d.look = 0, math.NaN()
	m.unwatch(d)
	for i := range d.tasks {
		n := &d.tasks[i]
		h := n.host
		m.advance(h, now)
		if n.on {
			m.bring(n)
			m.takeOff(n)
			m.left(n, now)
			m.allocate(h)
		}
	}
	if !d.terms.RunsOn {
		return
	}
	for i := m.afterDue(d.terms.due()) - 1; i >= 0 && m.dues[i].terms.due() == d.terms.due(); i-- {
		if m.dues[i] == d {
			m.dues = slices.Delete(m.dues, i, i+1)
			return
		}
	}
}

// pass processes the events before now. Contracts that run out of money at now are included. It
// also renews bids, and records how much work each contract that continues after its deadline
// had done by the deadline. If just is set, pass includes renewals at now.
func (m *market) pass(now float64, just bool) {
	for {
		due, again := math.Inf(1), math.Inf(1)
		if len(m.dues) > 0 {
			due = m.dues[0].terms.due()
		}
		if len(m.again) > 0 {
			again = m.again[0].at
		}
		switch at := m.nextLook(); {
		case at <= min(due, again) && at <= now+8*moment(now):
			m.purse(now)
		case again <= due && (again < now || just && again == now):
			m.renew(heap.Pop(&m.again).(renewal))
		case due < now:
			d := m.dues[0]
			m.dues = m.dues[1:]
			for i := range d.tasks {
				n := &d.tasks[i]
				m.advance(n.host, due)
				m.bring(n)
				d.byDue += n.done
			}
			d.late = true
		default:
			return
		}
	}
}
