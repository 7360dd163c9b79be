package stats

import (
	"cmp"
	"slices"
)

// Holm corrects the p values of a family of tests, in the same order, for their
// number (Holm 1979, step down): a test whose corrected value is at most a is
// rejected, and the chance of any false rejection in the family is at most a.
// Undefined tests are not part of a family. It panics on a p outside [0,1].
func Holm(ps []float64) []float64 {
	order := make([]int, len(ps)) // from the smallest p
	for i, p := range ps {
		if !(p >= 0 && p <= 1) {
			panic("stats: p value outside [0,1]")
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	corrected := make([]float64, len(ps))
	var floor float64
	for rank, i := range order {
		floor = max(floor, min(1, ps[i]*float64(len(ps)-rank)))
		corrected[i] = floor
	}
	return corrected
}
