package verify

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A market computes again what runs on hosts and what it is charged, from the bids
// alone: at every change on a host all its tasks are allocated again.
type market struct {
	rules *Rules
	hosts map[string]*machine
	dues  []*contract // of contracts that go on after their deadlines, by deadline

	prices prices
}

// A machine is a host as of an instant.
type machine struct {
	at    float64
	speed float64
	on    []*task

	ended float64 // when tasks last left by themselves
	freed int64   // their bids, nano-dollars per second
}

// A task of a contract runs on one host.
type task struct {
	host *machine
	name string
	bid  int64   // nano-dollars per second
	most float64 // processors, 0 for no limit
	need float64 // work after which it leaves by itself, +Inf if it does not
	pace float64 // the most work per second of one that keeps a processor to itself

	rate   float64 // work per second
	paying float64 // $/s
	done   float64 // work
	owed   float64 // $
}

func newMarket(r *Rules) *market { return &market{rules: r, hosts: make(map[string]*machine)} }

// host returns the machine of that name. Hosts are called h and their number.
func (m *market) host(name string, now float64) *machine {
	h := m.hosts[name]
	if h == nil {
		h = &machine{at: now, speed: 1}
		if i, err := strconv.Atoi(strings.TrimPrefix(name, "h")); err == nil && i >= 0 && len(m.rules.Speeds) > 0 {
			h.speed = m.rules.Speeds[i%len(m.rules.Speeds)]
		}
		m.hosts[name] = h
	}
	return h
}

// price returns the sum of all bids on h, in nano-dollars per second.
func (h *machine) price() (sum int64) {
	for _, n := range h.on {
		sum += n.bid
	}
	return sum
}

// met returns the least and the most that the price of h may have been to who came
// now. They differ where a task ends at this very instant: it may go before others
// come or after, as the run has it.
func (h *machine) met(now float64) (least, most int64) {
	const instant = 1e-12 // relative: what rounding takes
	least, most = h.price(), h.price()
	if now-h.ended <= instant*now {
		most += h.freed
	}
	for _, n := range h.on {
		if n.rate > 0 && (n.need-n.done)/n.rate <= instant*now {
			least -= n.bid
		}
	}
	return least, most
}

// capacity returns the work per second of h.
func (m *market) capacity(h *machine) float64 { return m.rules.CPUs * h.speed }

// advance brings h to now. Tasks whose work is done on the way leave it.
func (m *market) advance(h *machine, now float64) {
	for h.at < now {
		next := now
		for _, n := range h.on {
			if n.rate > 0 {
				next = min(next, h.at+max(0, n.need-n.done)/n.rate)
			}
		}
		left := len(h.on)
		h.on = slices.DeleteFunc(h.on, func(n *task) bool {
			over := n.rate > 0 && h.at+max(0, n.need-n.done)/n.rate <= next
			n.owed += n.paying * (next - h.at)
			n.done += n.rate * (next - h.at)
			if over {
				if h.ended != next {
					h.ended, h.freed = next, 0
				}
				h.freed += n.bid
				n.done = n.need
				m.prices.change(next, -n.bid)
			}
			return over
		})
		h.at = next
		if len(h.on) < left {
			m.allocate(h)
		}
	}
}

// weight returns what n, which is on h, counts where h is shared out.
func (m *market) weight(h *machine, n *task) float64 {
	switch {
	case m.rules.Sharing == exclusive || m.rules.Sharing == turns && n == h.on[0]:
		return 1
	case m.rules.Sharing == turns:
		return 0
	}
	return float64(n.bid)
}

// limit returns the most processors that n, which is on h, gets.
func (m *market) limit(h *machine, n *task) float64 {
	most := m.rules.CPUs
	if m.rules.Cap > 0 {
		most = min(most, m.rules.Cap)
	}
	switch {
	case m.rules.Sharing == exclusive:
		most = min(most, n.pace/h.speed)
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
	price, free, sum := h.price(), m.rules.CPUs, 0.0
	for _, n := range h.on {
		sum += m.weight(h, n)
	}
	// Those that reach their limits first have the lowest limit for their weight.
	byLimit := slices.Clone(h.on)
	slices.SortStableFunc(byLimit, func(a, b *task) int {
		return cmp.Compare(m.limit(h, a)*m.weight(h, b), m.limit(h, b)*m.weight(h, a))
	})
	for _, n := range byLimit {
		cpus, weight := m.limit(h, n), m.weight(h, n)
		switch {
		case weight == 0 && m.rules.Sharing == turns:
			cpus = 0
		case sum > 0:
			cpus = min(cpus, free*weight/sum)
		}
		free, sum = max(0, free-cpus), sum-weight
		n.rate = cpus * h.speed
		n.paying = charge(m.rules.Payment, float64(n.bid)/1e9, float64(price-n.bid)/1e9, cpus/m.rules.CPUs)
	}
}

// charge returns what is paid, in $/s, for a bid where the others bid so much
// together and it gets that fraction of the host.
func charge(rule string, bid, others, got float64) float64 {
	switch rule {
	case "spot":
		return min(bid, got*others)
	case "usage":
		return min(bid, got*(bid+others))
	case "bid":
		return bid
	}
	return math.NaN()
}

// start puts the tasks of d on their hosts.
func (m *market) start(now float64, d *contract) {
	for _, n := range d.tasks {
		m.advance(n.host, now)
		n.host.on = append(n.host.on, n)
		m.prices.change(now, n.bid)
		m.allocate(n.host)
	}
	if d.terms.RunsOn {
		at, _ := slices.BinarySearchFunc(m.dues, d, func(a, b *contract) int {
			if a.terms.due() <= b.terms.due() {
				return -1
			}
			return 1
		})
		m.dues = slices.Insert(m.dues, at, d)
	}
}

// stop takes the tasks of d off their hosts.
func (m *market) stop(now float64, d *contract) {
	for _, n := range d.tasks {
		m.advance(n.host, now)
		if i := slices.Index(n.host.on, n); i >= 0 {
			n.host.on = slices.Delete(n.host.on, i, i+1)
			m.prices.change(now, -n.bid)
			m.allocate(n.host)
		}
	}
	if i := slices.Index(m.dues, d); i >= 0 {
		m.dues = slices.Delete(m.dues, i, i+1)
	}
}

// pass notes what was done by the deadlines before now of contracts that go on.
func (m *market) pass(now float64) {
	for len(m.dues) > 0 && m.dues[0].terms.due() < now {
		d := m.dues[0]
		m.dues = m.dues[1:]
		for _, n := range d.tasks {
			m.advance(n.host, d.terms.due())
			d.byDue += n.done
		}
		d.late = true
	}
}
