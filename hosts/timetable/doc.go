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
// suspend what runs. A [Cluster] is a book beside the true runtimes.
//
// Instants and spans are whole seconds since the run's origin, as int64: a plan
// is compared for equality, and sums of spans are exact. Who comes with float64
// seconds rounds an instant before which nothing may happen up, a deadline
// down, and a span up. Spans of time are half-open: a job may start in the
// second in which another ends, and a completion at the deadline is in time.
//
// # Design
//
// The book holds the free nodes of its whole plan as a step function. A new job
// leaves those of smaller key where they are (the prefix lemma), so a quote
// copies the steps, takes the suffix out and puts it back in key order. What is
// put back moves only if its old slot was taken or a place before it was
// vacated, so no more than the vacated span is searched again. Rebuilding after
// an early end is the same walk with the whole plan as the suffix.
//
// The road not taken is a search tree over the steps: it makes a single
// placement logarithmic, but the suffix must be walked anyway.
package timetable
