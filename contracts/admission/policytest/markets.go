package policytest

import (
	"bourse/contracts"
	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/market"
)

// A Still is a market of hosts without prices, at time 0.
type Still struct {
	contracts.View
	Specs       []hosts.Spec
	Allocations [][]contracts.Allocation // allocations of each host
	Contracts   []contracts.Contract
}

// Fleet implements [contracts.View].
func (s *Still) Fleet() int { return len(s.Specs) }

// Spec implements [contracts.View].
func (s *Still) Spec(h hosts.ID) *hosts.Spec { return &s.Specs[h] }

// Room implements [contracts.View].
func (s *Still) Room(h hosts.ID) hosts.Resources { return s.Specs[h].Room }

// Price implements [contracts.View].
func (s *Still) Price(hosts.ID) market.Rate { return 0 }

// On implements [contracts.View].
func (s *Still) On(h hosts.ID) []contracts.Allocation { return s.Allocations[h] }

// Changed implements [contracts.View].
func (s *Still) Changed() []hosts.ID { return nil }

// Contract implements [contracts.View].
func (s *Still) Contract(i int32) *contracts.Contract { return &s.Contracts[i] }

// Unavailable implements [contracts.View].
func (s *Still) Unavailable(hosts.ID) bool { return false }

// A Stand is a market of hosts with prices, at time 0. It returns the cheapest hosts in order
// of their numbers.
type Stand struct {
	Still
	Hosts []Stall
}

// A Stall is a host of a [Stand].
type Stall struct {
	hosts.Spec
	Price, Percentile float64 // $/s
	Allocations       []contracts.Allocation
}

// Fleet implements [contracts.View].
func (s *Stand) Fleet() int { return len(s.Hosts) }

// Spec implements [contracts.View].
func (s *Stand) Spec(h hosts.ID) *hosts.Spec { return &s.Hosts[h].Spec }

// Room implements [contracts.View].
func (s *Stand) Room(h hosts.ID) hosts.Resources { return s.Hosts[h].Room }

// Price implements [contracts.View].
func (s *Stand) Price(h hosts.ID) market.Rate { return rate(s.Hosts[h].Price) }

// On implements [contracts.View].
func (s *Stand) On(h hosts.ID) []contracts.Allocation { return s.Hosts[h].Allocations }

// Percentile implements [contracts.View]. The result is proportional to g, so that tests can
// observe the effect of the guarantee.
func (s *Stand) Percentile(h hosts.ID, g float64) float64 { return s.Hosts[h].Percentile * g }

// Cheapest implements [contracts.View].
func (s *Stand) Cheapest(r *contracts.Request, out []hosts.ID) []hosts.ID {
	for h := range min(r.Nodes, len(s.Hosts)) {
		out = append(out, hosts.ID(h))
	}
	return out
}

// Wish returns a request for the given work on each of its nodes within 100 s, with the given
// bid per node in dollars per second.
func Wish(work float64, nodes int, bid float64) contracts.Request {
	return contracts.Request{ID: 99, Work: work, Nodes: nodes, SLA: contracts.SLA{Budget: amount(bid * 100 * float64(nodes)), Deadline: 100}}
}

// rate converts dollars per second to a [market.Rate].
func rate(dollars float64) market.Rate {
	r, err := market.Dollars(dollars)
	if err != nil {
		panic(err)
	}
	return r
}

// A Board is a market of hosts. The test notifies the policy of changes.
type Board struct {
	contracts.View
	Speeds   []float64
	Gone     []bool
	Requests []contracts.Request
	Queue    []int32
}

// Hosts returns the view of the hosts.
func (b *Board) Hosts() contracts.View { return b }

// Waiting returns the requests that wait.
func (b *Board) Waiting() []int32 { return b.Queue }

// Request returns a request by its index.
func (b *Board) Request(i int32) *contracts.Request { return &b.Requests[i] }

// Fleet implements [contracts.View].
func (b *Board) Fleet() int { return len(b.Speeds) }

// Unavailable implements [contracts.View].
func (b *Board) Unavailable(h hosts.ID) bool { return b.Gone[h] }

// History implements [contracts.View].
func (b *Board) History(hosts.ID) *availability.History { return nil }

// Spec implements [contracts.View].
func (b *Board) Spec(h hosts.ID) *hosts.Spec {
	return &hosts.Spec{CPUs: 1, Speed: b.Speeds[h], Room: hosts.Resources{Memory: 4}}
}

// Priced implements [contracts.View].
func (s *Still) Priced() []hosts.Kind { return nil }

// Floors implements [contracts.View].
func (s *Still) Floors(hosts.ID) *hosts.Floor { return nil }
