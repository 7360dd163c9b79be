package sched

import (
	"errors"
	"math/rand/v2"

	"bourse/hosts"
	"bourse/workloadgen/plugin"
)

// random chooses a random idle host.
type random struct{ rng *rand.Rand }

func newRandom(rng *rand.Rand) func(plugin.Decoder) (Matchmaker, error) {
	return func(decode plugin.Decoder) (Matchmaker, error) {
		if err := decode(&struct{}{}); err != nil {
			return nil, err
		}
		if rng == nil {
			return nil, errors.New("no source of chance")
		}
		return random{rng}, nil
	}
}

// Match implements [Matchmaker]. It draws one random number.
func (r random) Match(_, _ float64, p *Pool) hosts.ID {
	if p.idle == 0 {
		return None
	}
	h := p.firstIdle()
	for range r.rng.IntN(p.idle) {
		h = p.nextIdle(h)
	}
	return h
}

// Piles implements [Matchmaker].
func (random) Piles() bool { return false }
