package contracts

import (
	"math"

	"bourse/bank"
	"bourse/hosts"
)

// Remaining returns the estimated work left at now over all nodes, 0 at least.
func (c *Contract) Remaining(now float64) float64 {
	return max(0, c.Total()-c.Done-c.Rate*(now-c.At))
}

// Left returns the estimated work that is left at now, below 0 if the estimate
// was too low. C is the contract that s is a node of.
func (s *Allocation) Left(now float64, c *Contract) float64 {
	return c.Work - s.Done - s.Rate*(now-s.At)
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
