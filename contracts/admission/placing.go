package admission

import (
	"cmp"
	"slices"

	"bourse/contracts"
	"bourse/hosts"
)

// A candidate is a host that would do, and how well: less is better.
type candidate struct {
	host hosts.ID
	rank float64
}

// A chooser picks hosts for policies that place tasks themselves.
type chooser struct {
	found      []candidate
	placements []contracts.Placement
	numbers    contracts.Numbers
}

// add enters a host that would do.
func (c *chooser) add(h hosts.ID, rank float64) { c.found = append(c.found, candidate{h, rank}) }

// slowest returns the least speed of the hosts found.
func (c *chooser) slowest(v contracts.View) float64 {
	speed := v.Spec(c.found[0].host).Speed
	for _, f := range c.found[1:] {
		speed = min(speed, v.Spec(f.host).Speed)
	}
	return speed
}

// best returns a placement on each of the hosts of least rank, ties by number.
func (c *chooser) best(r *contracts.Request) []contracts.Placement {
	slices.SortFunc(c.found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.host, b.host))
	})
	return c.first(r)
}

// choose lets r in on the hosts of least rank, or turns it away for that reason where too few
// were found.
func (c *chooser) choose(r *contracts.Request, why contracts.Reason) contracts.Decision {
	if len(c.found) < r.Nodes {
		return c.reject(why)
	}
	return accept(c.best(r))
}

// first returns a placement on each of the first hosts found, as many as r has
// nodes. Bids are what r can pay: they matter where hosts are shared by auction. Who can
// pay no rate bids the least there is: a task that bids nothing would stand still.
func (c *chooser) first(r *contracts.Request) []contracts.Placement {
	c.placements = slices.Grow(c.placements[:0], r.Nodes)[:r.Nodes]
	clear(c.placements)
	bid := max(1, r.NodeRate())
	for i := range c.placements {
		c.placements[i].Host, c.placements[i].Bid = c.found[i].host, bid
	}
	return c.placements
}

// accept lets a request in on those hosts.
func accept(on []contracts.Placement) contracts.Decision {
	return contracts.Decision{Verdict: contracts.Accept, Placements: on}
}

// reject turns a request away that the hosts found are too few for. Their number is
//
//	hosts  hosts that would do, fewer than nodes
func (c *chooser) reject(why contracts.Reason) contracts.Decision {
	c.numbers = append(c.numbers[:0], contracts.Counted("hosts", len(c.found)))
	return contracts.Decision{Reason: why, Numbers: c.numbers}
}

// news returns the hosts that have changed since a policy looked, or all of them, anew, if it
// knows another number of hosts than there are.
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

// holds reports whether h is there, and has the room for what a task of r needs at
// least.
func holds(h hosts.ID, r *contracts.Request, v contracts.View) bool {
	least := r.Needs.Min.Resources
	return !v.Away(h) && (least.Zero() || least.Fit(v.Room(h)))
}

// everHolds reports whether enough hosts, all idle, would have room for r.
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
