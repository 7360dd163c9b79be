package contracts

import (
	"math"

	"bourse/bank"
	"bourse/hosts"
)

// Remaining returns the estimated work left at now over all nodes, in processor-seconds. It is
// never negative: if the estimate was too low, the result is 0 while the work continues.
func (c *Contract) Remaining(now float64) float64 {
	return max(0, c.Total()-c.Done-c.Rate*(now-c.At))
}

// Left returns the estimated work left at now on the node s of contract c, in
// processor-seconds. Unlike [Contract.Remaining], the result can be negative, which means that
// the estimate was too low. Sharing rules use the sign to detect an overrun.
func (s *Allocation) Left(now float64, c *Contract) float64 {
	return c.Work - s.Done - s.Rate*(now-s.At)
}

// A Settled is a contract that has ended, with its outcome and its bill. The field Placements
// is nil unless the contract was booked in several parts.
type Settled struct {
	Contract
	Outcome Outcome
	From    Phase       // phase before the end
	Ended   float64     // time of the end, s
	ByDue   float64     // w_d: work done over all nodes by the deadline
	Delay   float64     // delay used for the settlement, s; 0 if the promise was kept
	Paid    bank.Amount // total amount charged
	Owed    bank.Amount // penalty for a broken promise, in addition to the part already deducted from the price
	Penalty bank.Amount // part of Owed that was paid

	// Charged contains the charges by kind of resource, in dollars, before rounding. It is nil
	// unless hosts are metered and the contract held resources with a price or a floor price.
	Charged []float64
}

// A Result is the compact record of a contract that has ended. Of the request, it holds only
// the budget and the deadline, because a run may store a million Results.
type Result struct {
	Budget                 bank.Amount
	Deadline               float64     // deadline, s after submission
	Admitted, Began, Ended float64     // times, s; Began is +Inf if the contract never started
	Done                   float64     // work over all nodes
	ByDue                  float64     // part of Done that was completed by the deadline
	Paid, Owed, Penalty    bank.Amount // Owed and Penalty are defined as in [Settled]

	Outcome Outcome
	From    Phase    // phase before the end
	Gang    bool     // whether the contract was booked in gangs
	Host    hosts.ID // host of the first gang

	// The next two fields are counts for markets whose hosts come and go, as in [Contract].
	Losses, Resent int
	Wasted         float64

	Suspensions int // number of suspensions, as in [Contract]

	Booked *Booked // nil unless the contract was booked in several gangs or was paused
}

// Booked records where the gangs of a contract ran and when they were paused.
type Booked struct {
	Placements []Placement
	Paused     []Pause
}

// Result returns the compact record of s.
func (s *Settled) Result() Result {
	r := Result{
		Budget: s.SLA.Budget, Deadline: s.SLA.Deadline, Admitted: s.Admitted, Began: s.Began, Ended: s.Ended,
		Done: s.Done, ByDue: s.ByDue, Paid: s.Paid, Owed: s.Owed, Penalty: s.Penalty,
		Outcome: s.Outcome, From: s.From, Gang: s.Gang, Host: s.Host,
		Losses: s.Losses, Resent: s.Resent, Wasted: s.Wasted, Suspensions: s.Suspensions,
	}
	if s.Gang && len(s.Placements)+len(s.Paused) > 0 {
		r.Booked = &Booked{s.Placements, s.Paused}
	}
	return r
}

// Tolerance is the relative error within which work counts as done. It absorbs the rounding of
// float64 sums. For example, 1,000 processor-seconds count as done if 1 processor-microsecond
// is missing.
const Tolerance = 1e-9

// Moment returns the distance from at to the next larger float64, in seconds. Times closer
// than this to at cannot be distinguished. At 10^6 s it is about 10^-10 s.
func Moment(at float64) float64 { return math.Nextafter(at, math.Inf(1)) - at }

// Enough reports whether the work done reaches want within [Tolerance].
func Enough(done, want float64) bool { return done >= want*(1-Tolerance) }
