package sched

import (
	"math/rand/v2"

	"bourse/hosts"
)

// First takes the host that has been idle longest, whatever is foretold.
type First struct{}

func newFirst(decode func(any) error, _ *rand.Rand) (Matchmaker, error) {
	return First{}, decode(&struct{}{})
}

// Match implements [Matchmaker].
func (First) Match(_, _ float64, p *Pool) hosts.ID { return p.FirstIdle() }

// Piles implements [Matchmaker].
func (First) Piles() bool { return false }
