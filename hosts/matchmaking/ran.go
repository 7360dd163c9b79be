package matchmaking

import (
	"errors"
	"math/rand/v2"

	"bourse/hosts/timetable"
	"bourse/workloadgen/plugin"
)

// random tries sellers in random order, each at most once, until one of them can accept the
// job (RAN, §3.1.1). It draws one random number per quote.
type random struct {
	rng  *rand.Rand
	left []int // sellers not tried yet, in order
}

func newRandom(rng *rand.Rand) func(plugin.Decoder) (Matchmaker, error) {
	return func(decode plugin.Decoder) (Matchmaker, error) {
		if err := decode(&struct{}{}); err != nil {
			return nil, err
		}
		if rng == nil {
			return nil, errors.New("no source of chance")
		}
		return &random{rng: rng}, nil
	}
}

// Match implements [Matchmaker].
func (r *random) Match(now int64, j timetable.Job, window []Seller) (Choice, bool) {
	r.left = r.left[:0]
	for i := range window {
		r.left = append(r.left, i)
	}
	for len(r.left) > 0 {
		// The remainder of 64 bits has a bias below 1e-15, and a recorded draw can be replayed.
		k := int(r.rng.Uint64() % uint64(len(r.left)))
		i := r.left[k]
		r.left = append(r.left[:k], r.left[k+1:]...)
		if q := window[i].Quote(now, j); q.Feasible {
			return Choice{i, q}, true
		}
	}
	return Choice{}, false
}
