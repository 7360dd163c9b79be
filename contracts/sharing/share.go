package sharing

import (
	"math"

	"bourse/contracts"
	"bourse/hosts"
)

// Tolerances of the formulas. With accurate estimates and no spare capacity distributed, every
// job ends exactly at its deadline. The tolerances then determine whether the job is late.
const (
	Tick   = 1e-6 // s; a time or an amount of work up to this limit counts as 0
	Sliver = 1e-9 // processors; needs that exceed a host by at most this number still fit
)

// A Node is the capacity of a host for tasks, in processors.
type Node struct {
	Size float64 // processors of the host
	Most float64 // processors that one task can use
}

// NodeOf returns the capacity of a host with the given specification.
func NodeOf(spec *hosts.Spec) Node {
	if spec.Cap > 0 && spec.Cap < spec.CPUs {
		return Node{spec.CPUs, spec.Cap}
	}
	return Node{spec.CPUs, spec.CPUs}
}

// Required returns the number of processors that a task needs to end by its deadline (Risk,
// eq. 1; SLA, eq. 3):
//
//	share = left / span
//
// The argument left is the estimated remaining runtime on one processor of its host, and span
// is the time until the deadline, both in seconds. For example, 30 s of runtime in 60 s needs
// half a processor. The result may exceed the host.
//
// The formula is not useful in two cases. After the deadline, Required returns +Inf. Before
// the deadline, if the estimate is used up, it returns fallback.
func Required(left, span, fallback float64) float64 {
	switch {
	case span <= Tick:
		return math.Inf(1)
	case left <= Tick:
		return fallback
	}
	return left / span
}

// RequiredBy returns the processors that s, a node of contract c, needs at now on a host of
// the given speed.
func RequiredBy(now float64, s *contracts.Allocation, c *contracts.Contract, speed float64) float64 {
	return Required(s.Left(now, c)/speed, c.Due()-now, s.Need)
}
