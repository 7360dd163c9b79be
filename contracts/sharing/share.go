package sharing

import (
	"math"

	"bourse/contracts"
	"bourse/hosts"
)

// Tolerances of the formulas. With accurate estimates and no spare capacity allocated
// out every job ends just at its deadline, so they decide.
const (
	Tick   = 1e-6 // s; time or work not above it is none
	Sliver = 1e-9 // processors; needs that exceed a host by no more fit it
)

// A Node is what a host has for its tasks, in processors.
type Node struct {
	Size float64 // all of it
	Most float64 // what one task can use
}

// NodeOf returns what a host of that spec has.
func NodeOf(spec *hosts.Spec) Node {
	if spec.Cap > 0 && spec.Cap < spec.CPUs {
		return Node{spec.CPUs, spec.Cap}
	}
	return Node{spec.CPUs, spec.CPUs}
}

// Required returns the processors that a task needs to end by its deadline
// (Risk, eq. 1; SLA, eq. 3):
//
//	share = left / span
//
// where left is its estimated remaining runtime on a processor of its host and
// span the time until its deadline, both in seconds. It may exceed what the host
// has. It is +Inf once the deadline has passed, and fallback once the estimate is
// used up: the formula then says nothing or nonsense.
func Required(left, span, fallback float64) float64 {
	switch {
	case span <= Tick:
		return math.Inf(1)
	case left <= Tick:
		return fallback
	}
	return left / span
}

// RequiredBy returns what s, a node of c on a host of that speed, needs at now.
func RequiredBy(now float64, s *contracts.Allocation, c *contracts.Contract, speed float64) float64 {
	return Required(s.Left(now, c)/speed, c.Due()-now, s.Need)
}
