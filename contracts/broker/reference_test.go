package broker

import (
	"math"
	"slices"
	"testing"

	"bourse/contracts"
	"bourse/hosts"
)

// A reference is a simple broker: at every event it recomputes every rate of every contract and
// searches all of them for the next event. The test sets the hosts and bids of contracts.
type reference struct {
	*trial
	now    float64
	active []*plain // in order of admission
	ended  []*plain
}

// plain is a contract of a reference.
type plain struct {
	ask
	nodes []plainNode
	late  bool
	byDue float64
	end   float64
	state contracts.Outcome
}

type plainNode struct {
	of         int // number of nodes of the contract
	host       hosts.ID
	bid, met   float64 // bid, and sum of the other bids on the host when the task was placed, $/s
	promised   float64 // price promised at the placement, $/s
	rate, pays float64
	done, owed float64
	left       bool // whether the node's own work is done, if nodes are judged separately
}

// run simulates the accepted requests.
func (f *reference) run(decisions []contracts.Decision) {
	for i := range f.asks {
		f.pass(f.asks[i].Submit)
		if decisions[i].Verdict != contracts.Accept {
			continue
		}
		c := &plain{ask: f.asks[i]}
		for _, p := range decisions[i].Placements {
			c.nodes = append(c.nodes, plainNode{host: p.Host, bid: p.Bid.Float64(), met: f.bids(p.Host), promised: p.Promised.Float64()})
		}
		f.active = append(f.active, c)
	}
	f.pass(math.Inf(1))
}

// bids returns the sum of the bids on a host.
func (f *reference) bids(h hosts.ID) (sum float64) {
	for _, c := range f.active {
		for _, k := range c.nodes {
			if k.host == h && !k.left {
				sum += k.bid
			}
		}
	}
	return sum
}

// pass advances time from event to event.
func (f *reference) pass(until float64) {
	for {
		f.share()
		next := until
		for _, c := range f.active {
			next = min(next, f.event(c))
		}
		if math.IsInf(next, 1) {
			return
		}
		for _, c := range f.active {
			for n := range c.nodes {
				k := &c.nodes[n]
				k.done += k.rate * (next - f.now)
				k.owed += k.pays * (next - f.now)
			}
		}
		f.now = next
		f.settle()
		if next == until {
			return
		}
	}
}

// share allocates every host by raising a common level for all tasks below their limits. Each
// step ends when another task reaches its limit.
func (f *reference) share() {
	for h := range hosts.ID(f.hosts) {
		var on []*plainNode
		var limits []float64
		price, usable := 0.0, 0.0
		for _, c := range f.active {
			for n := range c.nodes {
				k := &c.nodes[n]
				if k.of = len(c.nodes); k.host != h {
					continue
				}
				k.rate, k.pays = 0, 0
				if k.left {
					continue
				}
				limit := math.Inf(1)
				if f.spec.Cap > 0 {
					limit = f.spec.Cap
				}
				if l := c.Needs.Max.CPU; l > 0 {
					limit = min(limit, l)
				}
				on, limits = append(on, k), append(limits, limit)
				price += k.bid
				usable += min(limit, f.spec.CPUs) * bitsOf(k.bid > 0)
			}
		}
		got := fill(f.spec.CPUs, on, limits, func(k *plainNode) float64 { return k.bid })
		free := f.spec.CPUs
		for _, g := range got {
			free -= g
		}
		for i, more := range fill(free, on, limits, func(k *plainNode) float64 { return bitsOf(k.bid == 0) }) {
			got[i] += more // capacity for tasks without money
		}
		for i, k := range on {
			k.rate = got[i] * f.spec.Speed
			q := got[i] / f.spec.CPUs
			if k.bid == 0 {
				continue
			}
			switch f.payment {
			case "spot":
				k.pays = min(k.bid, q*(price-k.bid))
			case "scarce":
				if k.pays = 0; usable > f.spec.CPUs*(1+1e-9) {
					k.pays = min(k.bid, q*(price-k.bid))
				}
			case "resource":
				k.pays = min(q/(k.bid/price), 1) * k.bid / float64(k.of)
			case "admission":
				k.pays = min(k.bid, q*k.met)
			case "percentile":
				k.pays = min(k.bid, q*max(price-k.bid, k.promised))
			case "usage":
				k.pays = min(q/(k.bid/price), 1) * k.bid
			case "bid":
				k.pays = k.bid
			}
		}
	}
}

func bitsOf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// fill allocates capacity to the tasks with a positive weight.
func fill(cpus float64, on []*plainNode, limits []float64, weigh func(*plainNode) float64) []float64 {
	got := make([]float64, len(on))
	for left := cpus; ; {
		weight, level := 0.0, math.Inf(1)
		for i, k := range on {
			if w := weigh(k); w > 0 && got[i] < limits[i] {
				weight += w
				level = min(level, (limits[i]-got[i])/w)
			}
		}
		if weight == 0 || left <= 0 {
			return got
		}
		last := level*weight >= left
		if last {
			level = left / weight
		}
		left -= level * weight
		for i, k := range on {
			switch room, w := limits[i]-got[i], weigh(k); {
			case room <= 0 || w == 0:
			case !last && room <= level*w*(1+1e-14):
				got[i] = limits[i]
			default:
				got[i] += level * w
			}
		}
		if last {
			return got
		}
	}
}

func (c *plain) done() (done, rate float64) {
	for n := range c.nodes {
		done += c.nodes[n].done
		rate += c.nodes[n].rate
	}
	return done, rate
}

// money returns the remaining budget of c and its charge per second.
func (c *plain) money() (left, pays float64) {
	left = c.SLA.Budget.Float64()
	for n := range c.nodes {
		left -= c.nodes[n].owed
		pays += c.nodes[n].pays
	}
	return left, pays
}

// event returns the time of the next event of c if nothing changes.
func (f *reference) event(c *plain) float64 {
	at := math.Inf(1)
	if left, pays := c.money(); pays > 0 {
		at = f.now + max(0, left)/pays
	}
	if !c.late {
		at = c.Due()
	}
	if c.PerHost {
		for _, k := range c.nodes {
			if !k.left {
				at = min(at, f.now+max(0, c.truth-k.done)/k.rate)
			}
		}
	} else {
		done, rate := c.done()
		at = min(at, f.now+max(0, c.truth*float64(c.Nodes)-done)/rate)
	}
	return at
}

// enough reports whether done covers want at now, within rounding.
func enough(done, rate, want, now float64) bool {
	return done+2*contracts.Moment(now)*rate >= want*(1-1e-9)
}

// settle ends contracts that are done or out of time, and removes the weight of contracts
// without money.
func (f *reference) settle() {
	for _, c := range f.active {
		if left, pays := c.money(); pays > 0 && f.now+max(0, left)/pays <= f.now+4*contracts.Moment(f.now) {
			for n := range c.nodes {
				c.nodes[n].bid = 0
			}
		}
	}
	f.active = slices.DeleteFunc(f.active, func(c *plain) bool {
		done, rate := c.done()
		complete := enough(done, rate, c.truth*float64(c.Nodes), f.now)
		if c.PerHost {
			complete = true
			for n := range c.nodes {
				k := &c.nodes[n]
				k.left = k.left || enough(k.done, k.rate, c.truth, f.now)
				complete = complete && k.left
			}
		}
		due := f.now >= c.Due()
		switch {
		case complete && !c.Late(f.now):
			c.byDue, c.state = done, contracts.Fulfilled
		case complete, due && !c.late && !c.SLA.Soft:
			c.state = contracts.Late
			if !c.late {
				c.byDue = done
			}
		default:
			if due && !c.late {
				c.late, c.byDue = true, done
			}
			return false
		}
		c.end = f.now
		f.ended = append(f.ended, c)
		return true
	})
}

// TestAgainstReference compares work, ends, states and charges of the broker, which updates
// only the parts that an event affects, with a reference that recomputes everything. They must
// agree to 1e-9, plus the rounding of times and charges.
func TestAgainstReference(t *testing.T) {
	t.Parallel()
	for seed := range uint64(600) {
		m := newTrial(seed, 40)
		p := m.play(t, nil)
		f := &reference{trial: m}
		f.run(p.decisions)
		if len(f.ended) != len(p.broker.Ended()) {
			t.Fatalf("%v: %d contracts ended, want %d", m, len(p.broker.Ended()), len(f.ended))
		}
		for _, want := range f.ended {
			i := slices.IndexFunc(p.broker.Ended(), func(c contracts.Settled) bool { return c.ID == want.ID })
			if i < 0 {
				t.Fatalf("%v: contract %d did not end", m, want.ID)
			}
			got := &p.broker.Ended()[i]
			done, _ := want.done()
			charge := 0.0
			for _, k := range want.nodes {
				charge += k.owed
			}
			charge = min(charge, want.SLA.Budget.Float64())
			if m.payment == "budget" {
				charge = got.Paid.Float64() // charge that does not accrue
			}
			span := want.end - want.Submit
			moment := 8 * contracts.Moment(want.end)
			rounding := moment * m.spec.Capacity() * float64(want.Nodes)
			if got.Outcome != want.state || !near(got.Done, done, 1e-9*done+rounding) || !near(got.ByDue, want.byDue, 1e-9*want.byDue+rounding) ||
				!near(got.Ended, want.end, 1e-9*span+moment) || !near(got.Paid.Float64(), charge, 1e-9*charge+float64(want.Nodes)*1e-6) {
				t.Errorf("%v: contract %d: %v at %v, work %v (%v by due), paid %v; want %v at %v, %v (%v), %v", m, want.ID,
					got.Outcome, got.Ended, got.Done, got.ByDue, got.Paid, want.state, want.end, done, want.byDue, charge)
			}
		}
	}
}

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance }
