// Package sharing says what share of a host each contract on it is to get, one
// rule to a file.
//
// It sees one host at a time and no other, and moves no money, though a rule may
// weigh what contracts are paid. To add a rule, write its file and its line in the
// table below.
package sharing

import (
	"bourse/contracts"
	"bourse/hosts"
	"bourse/workloadgen/plugin"
)

// A Rule allocates a host.
type Rule interface {
	// Allocate sets the Share of every allocation of h, which are in order of
	// admission. It is called whenever one has come or gone.
	Allocate(now float64, h hosts.ID, on []contracts.Allocation, v contracts.View)
}

// A Limiter is a rule under which a task may be stopped before its work is done.
type Limiter interface {
	Rule

	// Limit returns the work at which each task of r is stopped, +Inf if it is
	// not. It bounds only tasks that are promised by themselves
	// (Request.PerHost).
	Limit(r *contracts.Request) float64
}

// A Lasting rule gives a task its share once for all: nobody who comes or goes
// changes it, and Allocate has nothing to do.
type Lasting interface {
	Rule

	// Share returns the share of the task of c that is placed at on.
	Share(c *contracts.Contract, on *contracts.Placement, v contracts.View) hosts.Share
}

// A Bidding rule shares a host by bids: a contract that has spent its budget bids nothing,
// and has equally with others of that kind what those who bid leave ([hosts.Idle]).
type Bidding interface {
	Lasting
	ByBids()
}

// lasting is what a [Lasting] rule allocates anew: nothing.
type lasting struct{}

// Allocate implements [Rule].
func (lasting) Allocate(float64, hosts.ID, []contracts.Allocation, contracts.View) {}

// An Ender is a rule under which tasks end together that rounding would let end
// moments apart. Under the other rules each ends by itself.
type Ender interface {
	Rule
	Ending() Ending
}

// An Ending says which tasks end with one that ends.
type Ending uint8

// Endings.
const (
	ByItself  Ending = iota // no other
	WithHost                // those on its host that have no more than a [Tick] of work left
	WithNodes               // those of its contract that are done
)

// Table returns the rules.
func Table() plugin.Table[Rule] {
	return plugin.Table[Rule]{Kind: "sharing rule", Members: plugin.Members[Rule]{
		"auction":   {"in proportion to bids (eq. 4)", plugin.Is[Rule](new(auction))},
		"deadline":  {"what each task needs by its deadline (Libra, eq. 1)", newDeadline},
		"exclusive": {"a processor to each task", newExclusive},
		"librasla":  {"what each needs, cut where delay costs least (LibraSLA, Algorithm 2)", newPlanned},
		"planned":   {"a processor to each node of a gang (reservations)", plugin.Is[Rule](gang{})},
		"turns":     {"a processor to the task that came first; the others wait", plugin.Is[Rule](turns{})},
	}}
}
