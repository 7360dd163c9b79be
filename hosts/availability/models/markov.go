package models

import (
	"fmt"
	"math/rand/v2"

	"bourse/hosts/availability"
)

// markovOptions are the options of "markov". Each field has five numbers, or five rows of five,
// in the order A, P, C, E, U. The defaults are our own: an office host whose owner visits twice
// per hour.
type markovOptions struct {
	// Mean is the mean time in each state, in seconds, above 0. Defaults: 1800, 600, 300, 120
	// and 3600.
	Mean [5]float64 `yaml:"mean" validate:"dive,gt=0" doc:"mean time in each of A, P, C, E, U, s"`

	// Next contains the transition weights, one row per state: at least 0, with 0 on the
	// diagonal and at least one positive weight per row.
	Next [5][5]float64 `yaml:"next" validate:"dive,dive,min=0" doc:"transition weights, one row per state, 0 on the diagonal"`

	Load float64 `yaml:"load" validate:"min=0,max=1" doc:"maximum owner load while the host is available"` // as for "intervals"; 0.2 by default
}

// markov is a continuous-time Markov chain of the five states, with exponential times in each
// state. It starts in equilibrium.
type markov struct {
	mean [5]float64
	next [5][5]float64
	long [5]float64 // fraction of time in each state
	load float64
}

func newMarkov(decode func(any) error) (Model, error) {
	o := markovOptions{
		Mean: [5]float64{1800, 600, 300, 120, 3600},
		Next: [5][5]float64{
			{0, 0.6, 0.25, 0.05, 0.1},
			{0.7, 0, 0.2, 0.05, 0.05},
			{0.7, 0.25, 0, 0.05, 0},
			{0.2, 0, 0, 0, 0.8},
			{0.8, 0.2, 0, 0, 0},
		},
		Load: 0.2,
	}
	if err := decode(&o); err != nil {
		return nil, err
	}
	for i := range o.Mean {
		sum := 0.0
		for j, x := range o.Next[i] {
			if i == j && x != 0 {
				return nil, fmt.Errorf("next.%d.%d: found %v, want 0 on the diagonal", i, j, x)
			}
			sum += x
		}
		if sum == 0 {
			return nil, fmt.Errorf("next.%d: found only 0, want at least one positive weight", i)
		}
		for j := range o.Next[i] {
			o.Next[i][j] /= sum
		}
	}
	m := &markov{mean: o.Mean, next: o.Next, load: o.Load}
	m.long = m.equilibrium()
	return m, nil
}

// equilibrium returns the long-run fraction of time in each state. It uses the lazy version of
// the jump chain, so that periodic chains converge too.
func (m *markov) equilibrium() [5]float64 {
	visits := [5]float64{1}
	for range 10_000 {
		var after [5]float64
		for i := range visits {
			after[i] += visits[i] / 2
			for j := range visits {
				after[j] += visits[i] / 2 * m.next[i][j]
			}
		}
		visits = after
	}
	sum := 0.0
	for i := range visits {
		visits[i] *= m.mean[i]
		sum += visits[i]
	}
	for i := range visits {
		visits[i] /= sum
	}
	return visits
}

// Trace implements [Model].
func (m *markov) Trace(rng *rand.Rand, n int, span float64) (*availability.Trace, error) {
	return fleet(rng, n, span, func(rng *rand.Rand, w *writer) {
		s := pick(rng, m.long[:])
		for !w.full() {
			state, load := availability.State(s+1), 0.0
			if state == availability.Available {
				load = m.load * rng.Float64()
			}
			w.add(m.mean[s]*rng.ExpFloat64(), state, load)
			s = pick(rng, m.next[s][:])
		}
	})
}
