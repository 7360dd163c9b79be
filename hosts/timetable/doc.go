// Package timetable maintains the reservation book of one cluster: which jobs are promised,
// when each job starts, and on which nodes. It is independent of users, payments, other
// clusters and the true runtimes of jobs.
//
// Reference: Farooq, Majumdar, Parsons, "A Framework to Achieve Guaranteed QoS for Applications
// and High System Performance in Multi-Institutional Grid Computing".
//
// A [Book] plans by earliest deadline first and starts each job at the earliest time at which
// its whole gang fits. Running jobs never move. Other jobs may move until they start, but never
// past their deadlines. A [Preemptive] book may also suspend running jobs.
//
// Times and durations are whole seconds since the origin of the run, as int64, so plans can be
// compared for equality and sums of durations are exact. A caller with float64 seconds rounds
// earliest starts up, deadlines down and durations up. Intervals are half-open: a job may start
// in the second in which another ends, and a completion at the deadline is on time.
//
// # Design
//
// The book stores the nodes left free by the whole plan as a step function of time. A new job does
// not move jobs with smaller keys (the prefix lemma). Jobs with larger keys are visited in key
// order. Such a job moves only if its slot overlaps an interval taken since it was planned, or if
// an earlier start overlaps a vacated interval. A quote therefore copies the steps and maintains
// two hulls, one of the taken and one of the vacated intervals. Jobs with larger keys are removed
// from the steps only in the intervals that a search examines, so most jobs cost only four
// comparisons. Replanning after an early end or an overrun does the same over the whole plan, with
// other initial hulls. On-demand jobs come last in key order and have no deadlines, so a brief
// quote stops before them.
//
// Two alternatives were rejected. Placing each job of the whole suffix again took 50 times longer
// with 10,000 jobs. A search tree over the steps reduces one placement to logarithmic time but does
// not shorten the walk over the jobs.
package timetable
