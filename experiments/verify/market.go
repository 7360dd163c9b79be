package verify

import (
	"container/heap"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/bank/audit"
)

// A market recomputes the tasks on hosts and their charges, only from the bids. At every
// change on a host it allocates that host's processors again.
type market struct {
	rules *Rules
	dues  []*contract // contracts that continue after their deadlines, by deadline
	again renewals    // sorted by time
	looks looks       // sorted by time
	few   int         // maximum number of tasks of a host that are handled individually
	came  uint64      // number of tasks so far

	watched int  // number of watched contracts
	unsure  bool // it is unknown when some contract had spent its value

	prices prices
}

// A machine is the state of a host at a time. If it has many tasks, most of them are in its
// crowd, where a change that affects all is recorded once; see tree.go.
type machine struct {
	name  string
	to    string // account of the host
	began bool   // in use
	at    float64
	speed float64
	cpus  float64
	price int64   // sum of all bids, nano-dollars per second
	alone []*task // tasks handled individually, by decreasing urge
	crowd *task   // the other tasks, if bids share the host; or nil
	each  float64 // processors per nano-dollar per second, for tasks without a limit

	ended  float64 // last time at which tasks left by themselves
	freed  int64   // the bids of those tasks, nano-dollars per second
	placed int64   // last entry that placed a contract here
	nodes  int     // nodes of that contract here
	own    int64   // their bids, nano-dollars per second

	// By resource, as in a vector: what is held, the sums of all bids, and those of the tasks that
	// left at ended.
	held       []float64
	sums, gone []int64
}

// A task is the part of a contract that runs on one host.
type task struct {
	of   *contract
	host *machine
	bid  int64   // nano-dollars per second
	most float64 // processors, 0 for no limit
	met  int64   // lower bound of the other bids when it was placed
	over int64   // possible excess over that bound
	need float64 // work after which it leaves without an event; +Inf if it does not
	pace float64 // maximum work per second if it has a processor of its own

	weight float64     // its weight in sharing the host
	limit  float64     // maximum processors that it gets
	urge   float64     // weight over limit: the task with the higher urge reaches its limit first
	claim  float64     // processors that it can use if it has the host to itself
	part   float64     // fraction of the charge that it pays: 1, or under payment resource 1 / nodes of its contract
	on     bool        // it is on its host
	rate   float64     // work per second, and
	paying float64     // payment in $/s, while it is not in the crowd
	done   float64     // work
	owed   float64     // nano-dollars
	extra  float64     // possible excess over that, and
	more   float64     // the rate in $/s at which it grows
	paid   audit.Money // to its host by the settlement

	vector *vector   // nil if it claims only processors and holds nothing that has a floor
	holds  []float64 // as in a vector

	place // position in the crowd
}

func newMarket(r *Rules) *market { return &market{rules: r, few: 16} }

// begin starts to use h. The name of a host is "h" and its number.
func (m *market) begin(h *machine, now float64) {
	h.began, h.at, h.speed, h.cpus = true, now, 1, m.rules.cpusOf(h.name)
	if i, ok := number(h.name); ok && len(m.rules.Speeds) > 0 {
		h.speed = m.rules.Speeds[i%len(m.rules.Speeds)]
	}
}

// number returns the number of the host of that name.
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

// instant is the relative rounding error of times.
const instant = 1e-12

// met returns bounds of the price of h for a task that arrives now. They differ if a task ends
// at the same time, because it may leave before or after the arrival, depending on the run.
func (h *machine) met(now float64) (least, most int64) {
	least, most = h.price, h.price
	if now-h.ended <= instant*now {
		most += h.freed
	}
	for _, n := range h.alone {
		if n.rate > 0 && (n.need-n.done)/n.rate <= instant*now {
			least -= n.own()
		}
	}
	return least - h.crowd.ending(instant*now*h.each*h.speed), most
}

// over returns the time at which the first task of the crowd of h completes.
func (h *machine) over() float64 {
	if h.crowd == nil || !(h.each > 0) {
		return math.Inf(1)
	}
	return h.at + max(0, h.crowd.soonest)/(h.each*h.speed)
}

// capacity returns the work per second of h.
func (m *market) capacity(h *machine) float64 { return h.cpus * h.speed }

// advance integrates work and charges on h up to now. Tasks whose work is done in the meantime
// leave it.
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

// left records that n has left its host.
func (m *market) left(n *task, at float64) {
	n.on = false
	m.count(n, at, -1)
	n.hold(-1)
}

// accrue adds the work and the payments of the tasks in the crowd of h for the given seconds.
// For a bid of w, spot pays min(w, got × others), which is w up to a border and each/CPUs × w
// × (price - w) above it; usage pays min(w, got × price); bid pays w.
func (m *market) accrue(h *machine, seconds float64) {
	price, got := float64(h.price), h.each/h.cpus
	work := h.each * h.speed * seconds
	bid := gain{work: work, pay: seconds}
	switch m.rules.Payment {
	case "spot", "scarce": // with a crowd, no processor is free
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

// limitOf returns the maximum number of processors that n gets, and the number that it can use.
func (m *market) limitOf(n *task) (most, claim float64) {
	most = n.host.cpus
	if m.rules.Cap > 0 {
		most = min(most, m.rules.Cap)
	}
	claim = most
	if n.most > 0 {
		claim = min(claim, n.most)
	}
	switch m.rules.Sharing {
	case exclusive:
		most = min(most, n.pace/n.host.speed)
		return most, most
	case turns:
		return min(most, 1), claim
	}
	return claim, claim
}

// allocate gives each task on h its processors, in proportion to weights. Capacity that a
// task cannot use goes to the others.
func (m *market) allocate(h *machine) {
	defer m.stir(h)
	defer m.spare(h)
	for {
		capped := m.share(h)
		switch c := h.crowd; {
		case c == nil || c.urgent*h.each < below && 2*c.heaviest <= h.price:
			if m.rules.Sharing == "auction" && m.rules.Payment != "admission" && m.rules.Floor == 0 && m.rules.Held == nil && len(h.alone) > max(m.few, 2*capped) && h.alone[capped].urge*h.each < below {
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

// below is the fraction of its limit that a task of a crowd gets at most. All others are below
// their limits by more than rounding, so that a host with a crowd is cut.
const below = 1 - 1e-6

// spare sets the payments on h to the reserve, or the floor price if that is higher, if the
// payment rule is scarce and the tasks of h can use no more processors than it has.
func (m *market) spare(h *machine) {
	if m.rules.Payment != "scarce" || h.crowd != nil {
		return
	}
	claims := 0.0
	for _, n := range h.alone {
		if n.bid > 0 { // tasks that bid nothing use free capacity
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

// floor returns the minimum payment for n, in nano-dollars per second: the floor price of its
// processors, limited by its bid.
func (m *market) floor(n *task) float64 {
	least := 1e9 * m.rules.Floor * n.rate / n.host.speed
	if n.vector != nil {
		least += n.vector.least
	}
	return min(float64(n.bid), least)
}

// join moves tasks of h into the crowd, except for the first capped ones, which are at their
// limits, and any that bids more than half the price. For the others, a difference from the
// price is as accurate as the price itself.
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

// bring removes n from the crowd if it is in it.
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

// share gives the tasks of h their processors and returns how many are at their limits. It
// assumes that no task in the crowd is.
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

// get gives n the stated number of processors.
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
	n.paying = max(m.floor(n), n.part*charge(m.rules.Payment, float64(n.bid), float64(others), got))
}

// charge returns the payment for a bid that gets the fraction got of the host, when the other
// bids sum to others.
func charge(rule string, bid, others, got float64) float64 {
	switch rule {
	case "spot", "scarce", "admission":
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

// weigh sets the weight, the limit, the claim and the part of n from its bid.
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

// start puts the tasks of d on their hosts.
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

// afterDue returns the number of contracts in dues that are due at the given time or earlier.
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

// pass processes the events before now: contracts that run out of money, which it processes at
// now too; renewals of bids; and deadlines of contracts that continue, whose work done by then
// it records. If just is set, it includes renewals at now.
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
