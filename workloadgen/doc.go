// Package workloadgen makes work plans: who submits what, when, and what it is
// worth to them.
//
// A [Plan] is a function of a [Model] and of a source of chance and of nothing
// else, so that every policy can be given the identical plan. Plans are read
// from and written to CSV here, and to the Standard Workload Format in
// workloadgen/swf. The room does not know prices, hosts or policies.
//
// Instants and spans are seconds; the first instant of a generated plan is 0.
//
// # Design
//
// The room is a stack of small packages: dist (distributions), value (what a
// job is worth), swf (recorded logs), annotate (deadlines, estimates, sizes),
// models (what makes a plan); and beside them describe, fit, gof and memory
// (what a log is like, which laws it follows, how well, and what it remembers).
// None starts a goroutine: what is worth doing in parallel is offered in parts,
// and the caller runs the parts.
package workloadgen
