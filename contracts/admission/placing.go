package admission

import (
	"cmp"
	"slices"

	"bourse/contracts"
	"bourse/hosts"
)

// A candidate is a suitable host and its rank; a lower rank is better.
type candidate struct {
	host hosts.ID
	rank float64
}

// A chooser picks hosts for policies that place tasks without a bidding strategy.
type chooser struct {
	found      []candidate
	placements []contracts.Placement
	numbers    contracts.Numbers
}

// add adds a suitable host.
func (c *chooser) add(h hosts.ID, rank float64) { c.found = append(c.found, candidate{h, rank}) }

// slowest returns the lowest speed of the hosts found.
func (c *chooser) slowest(v contracts.View) float64 {
	speed := v.Spec(c.found[0].host).Speed
	for _, f := range c.found[1:] {
		speed = min(speed, v.Spec(f.host).Speed)
	}
	return speed
}

// best returns one placement on each of the hosts with the lowest ranks; ties are in order of
// host number.
func (c *chooser) best(r *contracts.Request) []contracts.Placement {
	slices.SortFunc(c.found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.host, b.host))
	})
	return c.first(r)
}

// choose accepts r on the hosts with the lowest ranks. If too few were found, it rejects r for
// the reason why.
func (c *chooser) choose(r *contracts.Request, why contracts.Reason) contracts.Decision {
	if len(c.found) < r.Nodes {
		return c.reject(why)
	}
	return accept(c.best(r))
}

// first returns one placement on each of the first r.Nodes hosts found. Bids are what r can
// pay; they matter only if hosts are shared by auction. A request whose rate rounds to 0 bids
// the smallest rate, because a task with a bid of 0 would make no progress.
func (c *chooser) first(r *contracts.Request) []contracts.Placement {
	c.placements = slices.Grow(c.placements[:0], r.Nodes)[:r.Nodes]
	clear(c.placements)
	bid := max(1, r.NodeRate())
	for i := range c.placements {
		c.placements[i].Host, c.placements[i].Bid = c.found[i].host, bid
	}
	return c.placements
}

// accept returns an acceptance with the given placements.
func accept(on []contracts.Placement) contracts.Decision {
	return contracts.Decision{Verdict: contracts.Accept, Placements: on}
}

// reject returns a rejection because too few hosts were found. It reports the number
//
//	hosts  number of suitable hosts, less than the number of nodes
func (c *chooser) reject(why contracts.Reason) contracts.Decision {
	c.numbers = append(c.numbers[:0], contracts.Counted("hosts", len(c.found)))
	return contracts.Decision{Reason: why, Numbers: c.numbers}
}

// news returns the hosts that have changed since the policy last called it. If the policy
// knows a different number of hosts than there are, it returns all hosts, and anew is true.
func news(v contracts.View, known int) (changed []hosts.ID, anew bool) {
	if changed = v.Changed(); known == v.Fleet() {
		return changed, false
	}
	changed = make([]hosts.ID, v.Fleet())
	for h := range changed {
		changed[h] = hosts.ID(h)
	}
	return changed, true
}

// holds reports whether h is present and has room for the minimum requirement of a task of r.
func holds(h hosts.ID, r *contracts.Request, v contracts.View) bool {
	least := r.Needs.Min.Resources
	return !v.Away(h) && (least.Zero() || least.Fit(v.Room(h)))
}

// everHolds reports whether enough hosts would have room for r if all were idle. If not,
// waiting is pointless.
func everHolds(r *contracts.Request, v contracts.View) bool {
	least := r.Needs.Min.Resources
	if least.Zero() {
		return r.Nodes <= v.Fleet()
	}
	n := 0
	for h := range hosts.ID(v.Fleet()) {
		if least.Fit(v.Spec(h).Room) {
			n++
		}
	}
	return r.Nodes <= n
}
