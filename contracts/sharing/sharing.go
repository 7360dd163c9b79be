// Package sharing computes the share of a host that each of its tasks receives. Each rule has
// its own file: deadline.go and librasla.go implement papers, and auction.go implements the
// proportional share of the market.
//
// A rule processes one host at a time and moves no money, although it may use data about
// payments. To add a rule, write its file and add a line to [Table].
package sharing

import (
	"bourse/contracts"
	"bourse/hosts"
	"bourse/workloadgen/plugin"
)

// A Rule allocates a host to its tasks. It may have state and is not safe for concurrent use.
type Rule interface {
	// Allocate sets the Share of every allocation on h. The allocations are in order of
	// admission. The floor calls it whenever a task has arrived or left.
	Allocate(now float64, h hosts.ID, on []contracts.Allocation, v contracts.View)
}

// A Limiter is a rule under which a task can be stopped before its work is done.
type Limiter interface {
	Rule

	// Limit returns the work at which each task of r is stopped, in processor-seconds, or +Inf
	// if it is not stopped. The limit applies only to tasks that are promised separately
	// (Request.PerHost).
	Limit(r *contracts.Request) float64
}

// A FixedShares rule sets the share of a task when it starts, and again only if its bid
// changes. Other tasks do not change the share, and Allocate does nothing. Events on a host
// therefore require no recomputation of shares.
type FixedShares interface {
	Rule

	// Share returns the share of the task of c that is placed at on.
	Share(c *contracts.Contract, on *contracts.Placement, v contracts.View) hosts.Share
}

// A Bidding rule shares a host by bids. A contract that has spent its budget bids nothing. Such
// contracts divide equally the capacity that the bidders do not use ([hosts.Idle]).
type Bidding interface {
	FixedShares
	ByBids()
}

// lasting provides the empty Allocate method of a [FixedShares] rule.
type lasting struct{}

// Allocate implements [Rule]. It does nothing.
func (lasting) Allocate(float64, hosts.ID, []contracts.Allocation, contracts.View) {}

// An Ender is a rule under which some tasks end together, even if rounding would let them end
// at slightly different times. Under other rules, each task ends independently.
type Ender interface {
	Rule
	Ending() Ending
}

// An Ending specifies which other tasks end when a task ends.
type Ending uint8

// Endings.
const (
	ByItself  Ending = iota // no other tasks
	WithHost                // tasks on the same host with at most a [Tick] of work left
	WithNodes               // tasks of the same contract that are done
)

// Table returns the table of sharing rules.
func Table() plugin.Table[Rule] {
	return plugin.Table[Rule]{Kind: "sharing rule", Members: plugin.Members[Rule]{
		"auction":   {"in proportion to bids (eq. 4)", plugin.Is[Rule](new(auction))},
		"deadline":  {"the share that each task needs by its deadline (Libra, eq. 1)", newDeadline},
		"exclusive": {"one processor per task", newExclusive},
		"librasla":  {"the share that each task needs, reduced where delay costs least (LibraSLA, Algorithm 2)", newPlanned},
		"maxmin":    {"max-min fairness: equal shares; what a task cannot use goes to the others", newMaxMin},
		"planned":   {"one processor per node of a gang (reservations)", plugin.Is[Rule](gang{})},
		"turns":     {"one processor for the first task; the others wait", plugin.Is[Rule](turns{})},
	}}
}
