package gof

import (
	"math/rand/v2"
	"slices"

	"bourse/workloadgen/dist"
)

// A Source returns a value for the uniform u in (0,1).
type Source func(u float64) float64

// FromSample draws from a sample with replacement.
func FromSample(sample []float64) Source {
	n := float64(len(sample))
	return func(u float64) float64 { return sample[min(int(u*n), len(sample)-1)] }
}

// FromLaw draws from a distribution.
func FromLaw(d dist.Distribution) Source { return d.Quantile }

// Bootstrap is the bootstrap of the paper. It takes a sample of Draws values from each of two
// sources and compares the samples with a Kolmogorov-Smirnov test at the given Level. It does this
// Pairs times.
type Bootstrap struct {
	Pairs int     // 1000 in the paper
	Draws int     // 100 in the paper
	Level float64 // 0.05 in the paper
	P     P       // Stephens' approximation in the paper
}

// PaperBootstrap returns the parameters of the paper.
func PaperBootstrap() Bootstrap { return Bootstrap{1000, 100, 0.05, stephens} }

// Tally summarizes tests.
type Tally struct {
	Pairs  int
	Passed int     // not rejected
	SumD   float64 // sum of the distances
}

// Success returns the share of the pairs that were not rejected.
func (t Tally) Success() float64 { return float64(t.Passed) / float64(t.Pairs) }

// MeanD returns the mean distance.
func (t Tally) MeanD() float64 { return t.SumD / float64(t.Pairs) }

// Add returns the sum of both tallies.
func (t Tally) Add(o Tally) Tally {
	return Tally{t.Pairs + o.Pairs, t.Passed + o.Passed, t.SumD + o.SumD}
}

// chunk is the number of pairs per part.
const chunk = 50

// Parts returns the number of parts of the bootstrap. Parts are independent: the caller may run
// them concurrently, each with its own random stream, and then adds their tallies.
func (b Bootstrap) Parts() int { return (b.Pairs + chunk - 1) / chunk }

// Run runs one part, numbered from 0 to Parts()-1.
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
