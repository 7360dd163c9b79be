package metrics

import (
	"math"

	"bourse/contracts"
	"bourse/workloadgen"
)

// A Job is a job of the plan with its outcome.
type Job struct {
	*workloadgen.Job      // from the plan, or changed by an offer that was accepted
	Chosen           bool // fulfilled by the planner of U*
	Bargained        bool // it accepted an offer, so its budget may differ from its value
	Names            bool // the reason refers to a contract, About
	Offers           int  // number of offers to its owner instead of a rejection

	// For a rejected job:
	Reason contracts.Reason
	About  contracts.ID

	// Contract is the outcome. A job that was not admitted has only the field Outcome: it was
	// refused, or is open if it still waits for a decision when the run ends.
	Contract contracts.Result
}

// Due returns the deadline of j's contract, or +Inf if it has none.
func (j *Job) Due() float64 {
	if j.OnDemand {
		return math.Inf(1)
	}
	return j.Arrival + j.Contract.Deadline
}

// worth returns the value of all of j's work to its owner, in dollars. It is the budget unless
// the owner accepted an offer.
func (j *Job) worth() float64 {
	if j.Bargained {
		return j.Value // as originally requested
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

// response returns the time from j's arrival to its end, including lost attempts.
func (j *Job) response() float64 { return j.Contract.Ended - j.Arrival }

// UnpaidPenalties returns the total of penalties owed but not paid, in dollars, and the number
// of users to whom they are owed.
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
	TooLate   int // rejected because they could not end by their deadline
	Started   int // jobs whose wait is known
	Completed int // jobs whose slowdown is known
	Open      int // open at the horizon
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

// revenue returns the payment of the user of j minus the penalty paid back, in dollars.
func (j *Job) revenue() float64 { return j.Contract.Paid.Float64() - j.Contract.Penalty.Float64() }
