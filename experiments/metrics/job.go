package metrics

import (
	"math"

	"bourse/contracts"
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
	Contract contracts.Result
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

// UnpaidPenalties returns how much of the penalties that are owed was not paid, in dollars, and to
// how many users.
func (o *Outcome) UnpaidPenalties() (unpaid float64, users int) {
	micros, missing := int64(0), make(map[int64]bool)
	for i := range o.Jobs {
		c := &o.Jobs[i].Contract
		if m := c.Owed.Micros() - c.Penalty.Micros(); m > 0 {
			micros += m
			missing[o.Jobs[i].User] = true
		}
	}
	return float64(micros) / 1e6, len(missing)
}

// Counts are numbers of jobs.
type Counts struct {
	Asked     int // all
	TooLate   int // rejected, as they could not end by their deadline
	Started   int // of which the wait is known
	Completed int // of which the slowdown is known
	Open      int // at the horizon
}

// Counts counts the jobs of o.
func (o *Outcome) Counts() Counts {
	n := Counts{Asked: len(o.Jobs) + len(o.Open), Started: len(o.waits()), Open: len(o.Open)}
	for i := range o.Jobs {
		j := &o.Jobs[i]
		if j.Contract.Outcome == contracts.Refused && j.Reason == contracts.TooLate {
			n.TooLate++
		}
		if j.completed() {
			n.Completed++
		}
	}
	return n
}

// revenue returns what the user of j has paid, less the penalty paid back, in dollars.
func (j *Job) revenue() float64 { return j.Contract.Paid.Float64() - j.Contract.Penalty.Float64() }
