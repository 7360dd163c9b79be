// Package workloadgen creates work plans: the jobs, their users, their submission times, and
// their value to the users.
//
// A [Plan] depends only on a [Model] and a random source, so every policy can run on an
// identical plan. This package reads and writes plans as CSV, and workloadgen/swf reads and
// writes them in the Standard Workload Format. The package is independent of prices, hosts and
// policies.
//
// Times and durations are in seconds. A generated plan starts at time 0.
//
// # Design
//
// The packages below this one are small: dist (distributions), value (the value of a job), swf
// (recorded logs), annotate (deadlines, estimates, sizes) and models (sources of plans). The
// packages describe, fit, gof and memory analyse logs: their properties, the distributions
// that fit them, the goodness of fit, and their autocorrelation. None starts a goroutine. Work
// that benefits from parallelism is offered in parts, which the caller runs.
package workloadgen
