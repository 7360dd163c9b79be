package libra

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

// A chooser selects hosts for policies that place tasks without a bidding strategy.
type chooser struct {
	found      []candidate
	placements []contracts.Placement
	numbers    contracts.Numbers
}

// add adds a suitable host.
func (c *chooser) add(h hosts.ID, rank float64) { c.found = append(c.found, candidate{h, rank}) }

// choose accepts r on the hosts with the lowest ranks; ties are in order of host number. If
// too few hosts were found, it rejects r for the reason why and reports the number
//
//	hosts  number of suitable hosts, less than the number of nodes
func (c *chooser) choose(r *contracts.Request, why contracts.Reason) contracts.Decision {
	if len(c.found) < r.Nodes {
		c.numbers = append(c.numbers[:0], contracts.Counted("hosts", len(c.found)))
		return contracts.Decision{Reason: why, Numbers: c.numbers}
	}
	slices.SortFunc(c.found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.host, b.host))
	})
	c.placements = c.placements[:0]
	for _, f := range c.found[:r.Nodes] {
		c.placements = append(c.placements, contracts.Placement{Host: f.host, Bid: r.LeastBid()})
	}
	return contracts.Decision{Verdict: contracts.Accept, Placements: c.placements}
}
