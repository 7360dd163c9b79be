package gof

import (
	"math/rand/v2"
	"slices"

	"bourse/workloadgen/dist"
)

// A Source draws a value from the uniform u in (0,1).
type Source func(u float64) float64

// FromSample draws from a sample with replacement.
func FromSample(sample []float64) Source {
	n := float64(len(sample))
	return func(u float64) float64 { return sample[min(int(u*n), len(sample)-1)] }
}

// FromLaw draws from a distribution.
func FromLaw(d dist.Distribution) Source { return d.Quantile }

// Bootstrap is the paper's: Pairs times, Draws values from each of two sources,
// and a Kolmogorov-Smirnov test between them at Level.
type Bootstrap struct {
	Pairs int     // the paper's 1000
	Draws int     // its 100
	Level float64 // its 0.05
	P     P       // Stephens
}

// PaperBootstrap returns the paper's numbers.
func PaperBootstrap() Bootstrap { return Bootstrap{1000, 100, 0.05, stephens} }

// Tally sums up tests.
type Tally struct {
	Pairs  int
	Passed int     // not rejected
	SumD   float64 // of the distances
}

// Success returns the share of the pairs that were not rejected.
func (t Tally) Success() float64 { return float64(t.Passed) / float64(t.Pairs) }

// MeanD returns the mean distance.
func (t Tally) MeanD() float64 { return t.SumD / float64(t.Pairs) }

// Add returns both tallies together.
func (t Tally) Add(o Tally) Tally {
	return Tally{t.Pairs + o.Pairs, t.Passed + o.Passed, t.SumD + o.SumD}
}

// chunk is the number of pairs that Run does in one part.
const chunk = 50

// Parts returns the number of parts that the bootstrap is done in. Parts are
// independent: the caller may run them at the same time, each with a stream of
// chance of its own, and adds up their tallies.
func (b Bootstrap) Parts() int { return (b.Pairs + chunk - 1) / chunk }

// Run does one part, from 0 to Parts()-1.
func (b Bootstrap) Run(part int, x, y Source, src rand.Source) Tally {
	u, v := make([]float64, b.Draws), make([]float64, b.Draws)
	t := Tally{Pairs: min(chunk, b.Pairs-part*chunk)}
	for range t.Pairs {
		for i := range u {
			u[i] = x(dist.Open(src))
			v[i] = y(dist.Open(src))
		}
		slices.Sort(u)
		slices.Sort(v)
		d := distance(u, v)
		t.SumD += d
		if b.P(b.Draws, b.Draws, d) >= b.Level {
			t.Passed++
		}
	}
	return t
}
