package contracts

import (
	"math"

	"bourse/bank"
	"bourse/hosts"
	"bourse/market"
)

// A Placement is one node of a contract: a host, the funding level there, and
// what has come of it.
type Placement struct {
	Host hosts.ID
	Bid  market.Rate
	Slot hosts.Slot
	Done float64 // work done on this node, once Left
	Owed float64 // dollars accrued, once Left
	Left bool    // the task has left the host
}

// A State is where a contract is in its life.
type State uint8

const (
	Active    State = iota // running
	Fulfilled              // all work done by the deadline
	Violated               // deadline passed with work undone
	Cancelled              // taken back by its owner, or open when the market closed
)

func (s State) String() string {
	return [...]string{"active", "fulfilled", "violated", "cancelled"}[s]
}

// A Contract is an accepted request. Policies may read it and must not change it.
type Contract struct {
	// What every change of a rate touches is in one place.
	Done  float64 // work over all nodes, as of At
	Rate  float64 // work per second over all nodes now
	At    float64 // instant up to which Done is counted
	State State

	Request
	Placements []Placement // one per node
	Admitted   float64     // instant
	Ended      float64     // instant, once not Active
	ByDue      float64     // w_d: work over all nodes by the deadline, as of Ended
	Paid       bank.Amount // charged, as of Ended
	Penalty    bank.Amount // paid by the provider, as of Ended

	// Where hosts come and go:
	Losses  int     // times that a host left with a task of it
	Resent  int     // of those, the ones after which it was to be placed again
	Wasted  float64 // work that was lost so, over all nodes
	Waiting bool    // it has no hosts: it waits to be placed again

	Price  bank.Amount // what the whole of it costs: the budget, unless less was agreed
	Began  float64     // instant of its first start, if Begun
	Begun  bool        // it has started
	Paused []float64   // of a planner's: instants at which its nodes were taken away and given back, in turn
	Killed bool        // it was stopped before its work was done, by its planner
	Broken bool        // it was ended because a host left
	Open   bool        // it had not ended when the market closed
	Gang   bool        // a planner's: all nodes on Host, as one placement
	Host   hosts.ID    // of a gang
}

// Remaining returns the estimated work left at now over all nodes, 0 at least.
func (c *Contract) Remaining(now float64) float64 {
	return max(0, c.Total()-c.Done-c.Rate*(now-c.At))
}

// Tolerance is the relative error within which work counts as done.
const Tolerance = 1e-9

// Moment returns the time that float64 instants near at cannot tell apart.
func Moment(at float64) float64 { return math.Nextafter(at, math.Inf(1)) - at }

// Enough reports whether done covers want, within [Tolerance].
func Enough(done, want float64) bool { return done >= want*(1-Tolerance) }
