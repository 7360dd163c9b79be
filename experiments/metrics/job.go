package metrics

import (
	"math"

	"bourse/bank"
	"bourse/contracts"
	"bourse/hosts"
	"bourse/workloadgen"
)

// A Job is a job of the plan and what became of it.
type Job struct {
	*workloadgen.Job      // of the plan, or as an offer that was taken has it
	Chosen           bool // fulfilled by the planner of U*
	Bargained        bool // it has taken an offer: its budget need not be its value
	Names            bool // the reason is about a contract, About
	Offers           int  // that were made to its owner, in place of a refusal

	// Of a job that was refused:
	Reason contracts.Reason
	About  contracts.ID

	// What it became. Of a job that was not admitted there is the outcome alone: it was
	// refused, or is open, if it waits for a decision when the run ends.
	Contract Contract
}

// A Contract is what a job has become: of [contracts.Settled] what is measured, and what the
// job does not say itself. A log has hundreds of thousands.
type Contract struct {
	Budget                 bank.Amount
	Deadline               float64 // s after arrival
	Admitted, Began, Ended float64 // instants; Began is +Inf if it never started
	Done                   float64 // work over all nodes
	ByDue                  float64 // of that, by the deadline
	Paid, Penalty          bank.Amount

	Outcome contracts.Outcome
	From    contracts.Phase // in which it was before its end
	Gang    bool            // booked
	Host    hosts.ID        // of its first gang

	// Where hosts come and go:
	Losses, Resent int
	Wasted         float64

	// Of one that was booked:
	Placements []contracts.Placement // if there are several
	Paused     []contracts.Pause
}

// Became makes c what s has come to.
func (c *Contract) Became(s *contracts.Settled) {
	*c = Contract{
		Budget: s.SLA.Budget, Deadline: s.SLA.Deadline, Admitted: s.Admitted, Began: s.Began, Ended: s.Ended,
		Done: s.Done, ByDue: s.ByDue, Paid: s.Paid, Penalty: s.Penalty,
		Outcome: s.Outcome, From: s.From, Gang: s.Gang, Host: s.Host,
		Losses: s.Losses, Resent: s.Resent, Wasted: s.Wasted, Placements: s.Placements, Paused: s.Paused,
	}
}

// Due returns the deadline of j's contract, +Inf if no instant is promised.
func (j *Job) Due() float64 {
	if j.OnDemand {
		return math.Inf(1)
	}
	return j.Arrival + j.Contract.Deadline
}

// worth returns what all of its work is worth to its owner, in dollars: its budget, but for
// one that has taken an offer.
func (j *Job) worth() float64 {
	if j.Bargained {
		return j.Value // as it was asked for first
	}
	return j.Contract.Budget.Float64()
}

// Admitted reports whether j became a contract.
func (j *Job) Admitted() bool {
	return j.Contract.Outcome != contracts.Refused && j.Contract.Outcome != contracts.Open
}

// Fulfilled reports whether the promise of j was kept.
func (j *Job) Fulfilled() bool { return j.Contract.Outcome == contracts.Fulfilled }

// Open reports whether j had not ended at the horizon.
func (j *Job) Open() bool {
	return j.Contract.Outcome == contracts.Unfinished || j.Contract.Outcome == contracts.Open
}

// waits reports whether j, which is open, waits for a host.
func (j *Job) waits() bool {
	return j.Contract.Outcome == contracts.Open || j.Contract.From == contracts.Waiting && !j.Contract.Gang
}

// judged reports whether the promise of j was kept or broken.
func (j *Job) judged() bool { return j.Fulfilled() || j.Contract.Outcome.Violated() }

// ended reports whether j was judged, and not killed.
func (j *Job) ended() bool { return j.judged() && j.Contract.Outcome != contracts.Killed }

// completed reports whether the work of j was done, in time or late.
func (j *Job) completed() bool {
	return j.Fulfilled() || j.Admitted() && contracts.Enough(j.Contract.Done, j.Work())
}

// response returns how long j took, its lost attempts among it.
func (j *Job) response() float64 { return j.Contract.Ended - j.Arrival }

// revenue returns what the user of j has paid, less the penalty paid back, in dollars.
func (j *Job) revenue() float64 { return j.Contract.Paid.Float64() - j.Contract.Penalty.Float64() }
