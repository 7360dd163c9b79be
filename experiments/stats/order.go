package stats

import (
	"math"
	"slices"
)

// Quantile returns the p quantile of xs, sorted and not empty, p in [0,1]:
// linear between the order statistics around 1 + p(n-1) (type 7 of Hyndman and
// Fan, the default of R and NumPy). It panics on a p outside [0,1].
func Quantile(xs []float64, p float64) float64 {
	if !(p >= 0 && p <= 1) {
		panic("stats: quantile outside [0,1]")
	}
	at := p * float64(len(xs)-1)
	i := int(at)
	if i+1 >= len(xs) {
		return xs[len(xs)-1]
	}
	w := at - float64(i)
	return min(xs[i]+w*(xs[i+1]-xs[i]), xs[i+1])
}

// A Box is a sample's five-number summary with Tukey's whiskers: Low and High
// are the extreme values within 1.5 interquartile ranges of the quartiles.
type Box struct {
	Min, Low, Q1, Median, Q3, High, Max float64
}

// BoxOf returns the box of xs, in any order; ok is false where xs is empty.
func BoxOf(xs []float64) (b Box, ok bool) {
	if len(xs) == 0 {
		return Box{}, false
	}
	s := slices.Clone(xs)
	slices.Sort(s)
	if math.IsNaN(s[0]) || math.IsInf(s[0], 0) || math.IsInf(s[len(s)-1], 0) {
		panic("stats: sample is not finite")
	}
	b = Box{Min: s[0], Q1: Quantile(s, 0.25), Median: Quantile(s, 0.5), Q3: Quantile(s, 0.75), Max: s[len(s)-1]}
	reach := 1.5 * (b.Q3 - b.Q1)
	first, _ := slices.BinarySearch(s, b.Q1-reach)
	b.Low = s[first]
	for last := len(s) - 1; ; last-- {
		if s[last] <= b.Q3+reach {
			b.High = s[last]
			return b, true
		}
	}
}
