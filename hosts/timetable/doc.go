// Package timetable keeps the book of one cluster: which jobs are promised,
// when each is to start, and on which nodes. It does not know who asked, what
// was paid, which other clusters exist, or how long a job will really take.
//
// Reference: Farooq, Majumdar, Parsons, "A Framework to Achieve Guaranteed QoS
// for Applications and High System Performance in Multi-Institutional Grid
// Computing".
//
// A [Book] plans by earliest deadline first, each job at the earliest instant
// at which its whole gang fits. Running jobs never move; every other job may be
// moved until it starts, never past its deadline. A [Preemptive] book may also
// suspend what runs.
//
// Instants and spans are whole seconds since the run's origin, as int64: a plan
// is compared for equality, and sums of spans are exact. Who comes with float64
// seconds rounds an instant before which nothing may happen up, a deadline
// down, and a span up. Spans of time are half-open: a job may start in the
// second in which another ends, and a completion at the deadline is in time.
//
// # Design
//
// The book holds the free nodes beside its whole plan as a step function. A new
// job leaves those of smaller key where they are (the prefix lemma). Of the
// others, in key order, one moves only if its slot meets what was taken since
// it was planned, or an earlier start meets what was vacated. So a quote copies
// the steps and keeps two hulls, of what was taken and of what was vacated;
// later keys are lifted out of the steps only where a search goes, and most
// jobs are passed over by comparing four numbers. Replanning after an early end
// or an overrun is the same walk over the whole plan, from other hulls. What
// waits on demand comes last in key order and misses no deadline: a brief quote
// ends where it begins.
//
// The roads not taken: to put the whole suffix back one by one, which took 50
// times longer on 10,000 jobs, and a search tree over the steps, which makes
// one placement logarithmic but not the walk.
package timetable
