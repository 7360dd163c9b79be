package contracts

import (
	"math"

	"bourse/bank"
	"bourse/hosts"
	"bourse/market"
)

// A Placement is one node of a contract, or one gang: a host, the funding level there,
// and what has come of it.
type Placement struct {
	Host  hosts.ID
	Slot  hosts.Slot
	Bid   market.Rate
	Nodes int     // of a gang, which is one task: as many nodes of the contract; 0 is one
	Done  float64 // work done on this node, once Left
	Owed  float64 // dollars accrued, once Left
	Left  bool    // the task has left the host

	// Of a program, once Left:
	End  hosts.End
	Code uint8 // with which it ended
}

// A Contract is an accepted request and how its work stands. Policies may read it and
// must not change it.
type Contract struct {
	// What every change of a rate touches is in one place.
	Done float64 // work over all nodes, as of At
	Rate float64 // work per second over all nodes now
	At   float64 // instant up to which Done is counted

	Request
	Placements []Placement // one per node, or one per gang if it is booked
	Admitted   float64     // instant
	Began      float64     // instant of its first start, +Inf before it
	Host       hosts.ID    // of its first gang
	Gang       bool        // booked: its nodes are in gangs, all of one part on one host

	// Where hosts come and go:
	Losses int     // times that a host left with a task of it
	Resent int     // of those, the ones after which it was to be placed again
	Wasted float64 // work that was lost so, over all nodes

	Paused []Pause // of gangs, in order of their beginnings
}

// A Pause is a time after the first start of a contract in which one of its gangs has no
// nodes: it has not started with the first, was suspended, or has ended before the last.
type Pause struct {
	Part int32   // index in the contract's placements
	From float64 // instant
	To   float64 // instant, +Inf as long as it lasts
}

// Remaining returns the estimated work left at now over all nodes, 0 at least.
func (c *Contract) Remaining(now float64) float64 {
	return max(0, c.Total()-c.Done-c.Rate*(now-c.At))
}

// A Settled is a contract that has ended. Its Placements are kept if it was booked in
// several parts, and otherwise not.
type Settled struct {
	Contract
	Outcome Outcome
	From    Phase       // in which it was before
	Ended   float64     // instant
	ByDue   float64     // w_d: work over all nodes by the deadline
	Delay   float64     // how late it is judged to be, s; 0 if its promise was kept
	Paid    bank.Amount // charged
	Owed    bank.Amount // of a penalty for a broken promise, beyond a price that it was taken from
	Penalty bank.Amount // paid of that
}

// A Result is what a contract that has ended came to, without what was asked for but for its
// budget and time: there may be one for each of a million jobs.
type Result struct {
	Budget                 bank.Amount
	Deadline               float64     // s after submission
	Admitted, Began, Ended float64     // instants; Began is +Inf if it never started
	Done                   float64     // work over all nodes
	ByDue                  float64     // of that, by the deadline
	Paid, Owed, Penalty    bank.Amount // Owed and Penalty: as in [Settled]

	Outcome Outcome
	From    Phase    // in which it was before its end
	Gang    bool     // booked
	Host    hosts.ID // of its first gang

	// Where hosts come and go:
	Losses, Resent int
	Wasted         float64

	Booked *Booked // nil but of one that was booked with several gangs, or paused
}

// Booked is where the gangs of a contract were, if there were several, and when they paused.
type Booked struct {
	Placements []Placement
	Paused     []Pause
}

// Result returns what s came to.
func (s *Settled) Result() Result {
	r := Result{
		Budget: s.SLA.Budget, Deadline: s.SLA.Deadline, Admitted: s.Admitted, Began: s.Began, Ended: s.Ended,
		Done: s.Done, ByDue: s.ByDue, Paid: s.Paid, Owed: s.Owed, Penalty: s.Penalty,
		Outcome: s.Outcome, From: s.From, Gang: s.Gang, Host: s.Host,
		Losses: s.Losses, Resent: s.Resent, Wasted: s.Wasted,
	}
	if s.Gang && len(s.Placements)+len(s.Paused) > 0 {
		r.Booked = &Booked{s.Placements, s.Paused}
	}
	return r
}

// Tolerance is the relative error within which work counts as done.
const Tolerance = 1e-9

// Moment returns the time that float64 instants near at cannot tell apart.
func Moment(at float64) float64 { return math.Nextafter(at, math.Inf(1)) - at }

// Enough reports whether done covers want, within [Tolerance].
func Enough(done, want float64) bool { return done >= want*(1-Tolerance) }
