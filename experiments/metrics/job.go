package metrics

import (
	"math"

	"bourse/contracts"
	"bourse/workloadgen"
)

// A Job is a job of the plan with its outcome.
type Job struct {
	*workloadgen.Job      // job of the plan, or of an offer that the user accepted
	Chosen           bool // whether the planner of U* fulfils the job
	Bargained        bool // whether the user accepted an offer, so that the budget may differ from the value
	Names            bool // whether the reason refers to another contract, whose ID is About
	Offers           int  // number of offers that the owner received instead of a rejection

	// The next field is set for a rejected job.
	Reason contracts.Reason
	About  contracts.ID

	// Contract is the outcome. For a job that was not admitted, only the field Outcome is set.
	// Such a job was rejected, or it is open: it was still waiting for a decision when the run
	// ended.
	Contract contracts.Result
}

// Due returns the deadline of j's contract, or +Inf if the contract has none.
func (j *Job) Due() float64 {
	if j.OnDemand {
		return math.Inf(1)
	}
	return j.Arrival + j.Contract.Deadline
}

// worth returns the value of all of j's work to its owner, in dollars. It equals the budget
// unless the owner accepted an offer. A job that was not admitted has no budget.
func (j *Job) worth() float64 {
	if j.Bargained || !j.Admitted() {
		return j.Value // value in the original request
	}
	return j.Contract.Budget.Float64()
}

// Admitted reports whether j became a contract.
func (j *Job) Admitted() bool {
	return j.Contract.Outcome != contracts.Refused && j.Contract.Outcome != contracts.Open
}

// Fulfilled reports whether the promise to the owner of j was kept.
func (j *Job) Fulfilled() bool { return j.Contract.Outcome == contracts.Fulfilled }

// Open reports whether j had not ended when the run ended.
func (j *Job) Open() bool {
	return j.Contract.Outcome == contracts.Unfinished || j.Contract.Outcome == contracts.Open
}

// waits reports whether the open job j is waiting for a host.
func (j *Job) waits() bool {
	return j.Contract.Outcome == contracts.Open || j.Contract.From == contracts.Waiting && !j.Contract.Gang
}

// judged reports whether the promise to the owner of j was kept or broken.
func (j *Job) judged() bool { return j.Fulfilled() || j.Contract.Outcome.Violated() }

// ended reports whether j ended with its promise kept or broken, but was not killed.
func (j *Job) ended() bool { return j.judged() && j.Contract.Outcome != contracts.Killed }

// completed reports whether the work of j was done, in time or late.
func (j *Job) completed() bool {
	return j.Fulfilled() || j.Admitted() && contracts.Enough(j.Contract.Done, j.Work())
}

// response returns the time from j's arrival to its end in seconds, including lost
// attempts.
func (j *Job) response() float64 { return j.Contract.Ended - j.Arrival }

// UnpaidPenalties returns the total of the penalties that are owed but were not paid, in
// dollars, and the number of users to whom they are owed.
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

// Counts contains numbers of jobs.
type Counts struct {
	Asked     int // number of all jobs
	TooLate   int // number of jobs rejected because they could not end by their deadlines
	Started   int // number of jobs whose waiting time is known
	Completed int // number of jobs whose slowdown is known
	Open      int // number of jobs that are open at the horizon
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

// revenue returns the payment of j's user minus the penalty paid to that user, in dollars.
func (j *Job) revenue() float64 { return j.Contract.Paid.Float64() - j.Contract.Penalty.Float64() }
