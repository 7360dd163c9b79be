package sched

import (
	"bourse/hosts"
)

// First chooses the host that has been idle longest, regardless of forecasts.
type First struct{}

// Match implements [Matchmaker].
func (First) Match(_, _ float64, p *Pool) hosts.ID { return p.firstIdle() }

// Piles implements [Matchmaker].
func (First) Piles() bool { return false }
