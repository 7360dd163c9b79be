package libra

import (
	"math"
	"slices"
	"sort"

	"bourse/contracts"
	"bourse/hosts"
)

// A candidate is a suitable host and its rank; a lower rank is better.
type candidate struct {
	host hosts.ID
	rank float64
}

// A chooser selects hosts for policies that place tasks without a bidding strategy.
type chooser struct {
	found      []candidate // best hosts among those added, at most one per node, in order of rank
	nodes      int
	placements []contracts.Placement
	numbers    contracts.Numbers
}

// begin prepares to choose hosts for r.
func (c *chooser) begin(r *contracts.Request) { c.found, c.nodes = c.found[:0], r.Nodes }

// add adds a suitable host. Hosts must be added in order of their numbers.
func (c *chooser) add(h hosts.ID, rank float64) {
	if !(rank < c.limit()) {
		return
	}
	c.found = c.found[:min(len(c.found), c.nodes-1)]
	i := sort.Search(len(c.found), func(i int) bool { return c.found[i].rank > rank })
	c.found = slices.Insert(c.found, i, candidate{h, rank})
}

// limit returns the rank below which one more host would be chosen.
func (c *chooser) limit() float64 {
	if len(c.found) < c.nodes {
		return math.Inf(1)
	}
	return c.found[c.nodes-1].rank
}

// choose accepts r on the hosts with the lowest ranks; ties are in order of host number. If
// too few hosts were found, it rejects r for the reason why and reports the number
//
//	hosts  number of suitable hosts, less than the number of nodes
func (c *chooser) choose(r *contracts.Request, why contracts.Reason) contracts.Decision {
	if len(c.found) < r.Nodes {
		c.numbers = append(c.numbers[:0], contracts.Counted("hosts", len(c.found)))
		return contracts.Decision{Reason: why, Numbers: c.numbers}
	}
	c.placements = c.placements[:0]
	for _, f := range c.found {
		c.placements = append(c.placements, contracts.Placement{Host: f.host, Bid: r.LeastBid()})
	}
	return contracts.Decision{Verdict: contracts.Accept, Placements: c.placements}
}
