package verify

import (
	"container/heap"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/bank/audit"
)

// A market computes again what runs on hosts and what it is charged, from the bids
// alone: at every change on a host its processors are allocated again.
type market struct {
	rules *Rules
	dues  []*contract // of contracts that go on after their deadlines, by deadline
	again renewals    // by instant
	looks looks       // by instant
	few   int         // tasks on a host are looked at one by one, if there are no more
	came  uint64      // tasks

	watched int  // contracts
	unsure  bool // some moment at which a contract had spent all is not known

	prices prices
}

// A machine is a host as of an instant. Most tasks of one that has many are in its crowd,
// in which whatever happens to all is written once; see tree.go.
type machine struct {
	name  string
	to    string // its account
	began bool   // to be used
	at    float64
	speed float64
	price int64   // sum of all bids, nano-dollars per second
	alone []*task // tasks that are looked at one by one, by urge, the highest first
	crowd *task   // the others, where bids share the host; or nil
	each  float64 // processors for a nano-dollar per second, of those that have no limit

	ended  float64 // when tasks last left by themselves
	freed  int64   // their bids, nano-dollars per second
	placed int64   // the last entry that put a contract here
}

// A task of a contract runs on one host.
type task struct {
	of   *contract
	host *machine
	bid  int64   // nano-dollars per second
	most float64 // processors, 0 for no limit
	met  int64   // what the others bid when it was placed, at least
	over int64   // how much more that may have been
	need float64 // work after which it leaves by itself, +Inf if it does not
	pace float64 // the most work per second of one that keeps a processor to itself

	weight float64     // what it counts where its host is shared out
	limit  float64     // the most processors that it gets
	urge   float64     // weight over limit: who has more reaches the limit first
	on     bool        // its host
	rate   float64     // work per second, and
	paying float64     // $/s, while it is not in the crowd
	done   float64     // work
	owed   float64     // nano-dollars
	extra  float64     // how much more that may be, and
	more   float64     // $/s, at which it grows
	paid   audit.Money // to its host by the settlement

	place // in the crowd
}

func newMarket(r *Rules) *market { return &market{rules: r, few: 16} }

// begin begins to use h. Hosts are called h and their number.
func (m *market) begin(h *machine, now float64) {
	h.began, h.at, h.speed = true, now, 1
	if i, err := strconv.Atoi(strings.TrimPrefix(h.name, "h")); err == nil && i >= 0 && len(m.rules.Speeds) > 0 {
		h.speed = m.rules.Speeds[i%len(m.rules.Speeds)]
	}
}

// instant is the part of an instant that rounding takes.
const instant = 1e-12

// met returns the least and the most that the price of h may have been to who came
// now. They differ where a task ends at this very instant: it may go before others
// come or after, as the run has it.
func (h *machine) met(now float64) (least, most int64) {
	least, most = h.price, h.price
	if now-h.ended <= instant*now {
		most += h.freed
	}
	for _, n := range h.alone {
		if n.rate > 0 && (n.need-n.done)/n.rate <= instant*now {
			least -= n.bid
		}
	}
	return least - h.crowd.ending(instant*now*h.each*h.speed), most
}

// over returns when the first of the crowd of h leaves by itself.
func (h *machine) over() float64 {
	if h.crowd == nil || !(h.each > 0) {
		return math.Inf(1)
	}
	return h.at + max(0, h.crowd.soonest)/(h.each*h.speed)
}

// capacity returns the work per second of h.
func (m *market) capacity(h *machine) float64 { return m.rules.CPUs * h.speed }

// advance brings h to now. Tasks whose work is done on the way leave it.
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
			if h.ended != next {
				h.ended, h.freed = next, 0
			}
			h.freed += n.bid
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

// left notes that n has left its host.
func (m *market) left(n *task, at float64) {
	n.on = false
	n.host.price -= n.bid
	m.prices.change(at, -n.bid)
}

// accrue adds what tasks in the crowd of h work and pay in so many seconds. For a bid of
// w they pay min(w, got × others) of spot, which is w up to a border and each/CPUs × w ×
// (price - w) above it, min(w, got × price) of usage, or w.
func (m *market) accrue(h *machine, seconds float64) {
	price, got := float64(h.price), h.each/m.rules.CPUs
	work := h.each * h.speed * seconds
	bid := gain{work: work, pay: seconds}
	switch m.rules.Payment {
	case "spot", "scarce": // a crowd leaves no processor to spare
		h.crowd.accrue(price-1/got, bid, gain{work, got * price * seconds, got * seconds})
	case "usage":
		h.crowd.all(gain{work: work, pay: min(1, got*price) * seconds})
	case "bid":
		h.crowd.all(bid)
	default:
		h.crowd.all(gain{work: work, pay: math.NaN()})
	}
}

// limitOf returns the most processors that n gets.
func (m *market) limitOf(n *task) float64 {
	most := m.rules.CPUs
	if m.rules.Cap > 0 {
		most = min(most, m.rules.Cap)
	}
	switch {
	case m.rules.Sharing == exclusive:
		most = min(most, n.pace/n.host.speed)
	case m.rules.Sharing == turns:
		most = min(most, 1)
	case n.most > 0:
		most = min(most, n.most)
	}
	return most
}

// allocate gives each task on h its processors, in proportion to weights; what a task
// cannot use goes to the others.
func (m *market) allocate(h *machine) {
	defer m.stir(h)
	defer m.spare(h)
	for {
		capped := m.share(h)
		switch c := h.crowd; {
		case c == nil || c.urgent*h.each < 1 && 2*c.heaviest <= h.price:
			if m.rules.Sharing == "auction" && m.rules.Payment != "admission" && m.rules.Floor == 0 && len(h.alone) > max(m.few, 2*capped) {
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

// spare charges nothing on h if that is the rule and it has a processor to spare.
func (m *market) spare(h *machine) {
	if m.rules.Payment != "scarce" || h.crowd != nil {
		return
	}
	used := 0.0
	for _, n := range h.alone {
		if n.bid > 0 { // others take what is to spare
			used += n.rate / h.speed
		}
	}
	if used <= m.rules.CPUs-1+1e-9 {
		for _, n := range h.alone {
			n.paying = m.floor(n)
		}
	}
}

// floor returns what is paid for n at least, in nano-dollars per second: for its processors at
// the floor price, and never more than its bid.
func (m *market) floor(n *task) float64 {
	return min(float64(n.bid), 1e9*m.rules.Floor*n.rate/n.host.speed)
}

// join puts tasks of h into the crowd, but for those at their limit, which come first,
// and one that bids more than half the price. For all others a difference from the price
// is as exact as the price.
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

// bring takes n out of the crowd, if it is there.
func (m *market) bring(n *task) {
	if !n.inside {
		return
	}
	h := n.host
	h.crowd = h.crowd.without(n)
	m.stand(n)
	m.get(n, h.each*n.weight)
}

// stand puts n among those of its host that are looked at one by one.
func (m *market) stand(n *task) {
	h := n.host
	at := len(h.alone)
	for at > 0 && (h.alone[at-1].urge < n.urge || h.alone[at-1].urge == n.urge && h.alone[at-1].came > n.came) {
		at--
	}
	h.alone = slices.Insert(h.alone, at, n)
}

// share gives the tasks of h their processors. It returns how many are at their limit, and
// takes it that none in the crowd is.
func (m *market) share(h *machine) (capped int) {
	free, sum := m.rules.CPUs, float64(h.price)
	switch m.rules.Sharing {
	case exclusive:
		sum = float64(len(h.alone))
	case turns:
		for i, n := range h.alone {
			n.limit = 0
			if i == 0 {
				n.limit = m.limitOf(n)
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

// get gives n so many processors.
func (m *market) get(n *task, cpus float64) {
	n.rate = cpus * n.host.speed
	others, got := n.host.price-n.bid, cpus/m.rules.CPUs
	if m.rules.Payment == "admission" {
		others = n.met
		n.more = max(m.floor(n), charge("admission", float64(n.bid), float64(n.met+n.over), got)) - max(m.floor(n), charge("admission", float64(n.bid), float64(n.met), got))
	}
	n.paying = max(m.floor(n), charge(m.rules.Payment, float64(n.bid), float64(others), got))
}

// charge returns what is paid for a bid where the others bid so much together and it
// gets that fraction of the host.
func charge(rule string, bid, others, got float64) float64 {
	switch rule {
	case "spot", "scarce", "admission":
		return min(bid, got*others)
	case "usage":
		return min(bid, got*(bid+others))
	case "bid":
		return bid
	}
	return math.NaN()
}

// weigh sets what n counts on its host, by its bid.
func (m *market) weigh(n *task) {
	n.limit, n.weight = m.limitOf(n), 1
	if m.rules.Sharing == "auction" {
		n.weight = float64(n.bid)
	}
	if n.urge = n.weight / n.limit; m.rules.Sharing == turns {
		n.urge = 0
	}
}

// start puts the tasks of d on their hosts.
func (m *market) start(now float64, d *contract) {
	for i := range d.tasks {
		n := &d.tasks[i]
		m.advance(n.host, now)
		m.weigh(n)
		m.came++
		n.of, n.came, n.on = d, m.came, true
		n.host.price += n.bid
		m.stand(n)
		m.prices.change(now, n.bid)
		m.allocate(n.host)
	}
	if d.terms.RunsOn {
		m.dues = slices.Insert(m.dues, m.afterDue(d.terms.due()), d)
	}
	m.renewLater(d, now)
	m.lasts(d, now)
}

// afterDue returns how many contracts that go on are due at an instant or before.
func (m *market) afterDue(at float64) int {
	i, _ := slices.BinarySearchFunc(m.dues, at, func(d *contract, at float64) int {
		if d.terms.due() <= at {
			return -1
		}
		return 1
	})
	return i
}

// takeOff takes n from those of its host that are looked at one by one.
func (m *market) takeOff(n *task) {
	h := n.host
	i := slices.Index(h.alone, n)
	h.alone = slices.Delete(h.alone, i, i+1)
}

// stop takes the tasks of d off their hosts.
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

// pass brings about what comes before now: money that is gone, at now too; bids that are
// renewed, and deadlines of contracts that go on, of which it notes what was done by then. It
// includes bids renewed just now if told so.
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
