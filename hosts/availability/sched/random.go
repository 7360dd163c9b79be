package sched

import (
	"errors"
	"math/rand/v2"

	"bourse/hosts"
	"bourse/workloadgen/plugin"
)

// Random takes an idle host drawn by lot.
type Random struct{ rng *rand.Rand }

func newRandom(rng *rand.Rand) func(plugin.Decoder) (Matchmaker, error) {
	return func(decode plugin.Decoder) (Matchmaker, error) {
		if err := decode(&struct{}{}); err != nil {
			return nil, err
		}
		if rng == nil {
			return nil, errors.New("no source of chance")
		}
		return Random{rng}, nil
	}
}

// Match implements [Matchmaker]. It makes one draw.
func (r Random) Match(_, _ float64, p *Pool) hosts.ID {
	if p.Idle() == 0 {
		return None
	}
	h := p.FirstIdle()
	for range r.rng.IntN(p.Idle()) {
		h = p.NextIdle(h)
	}
	return h
}

// Piles implements [Matchmaker].
func (Random) Piles() bool { return false }
