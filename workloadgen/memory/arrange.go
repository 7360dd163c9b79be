package memory

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Arrange returns the values in an order with the ranks of fractional noise of exponent h in
// (0,1). The values do not change, but the series has a long memory afterwards. For short
// series, or values far from normal, an estimate of the exponent is closer to 1/2 than h;
// [Target] corrects this.
func Arrange(values []float64, h float64, src rand.Source) []float64 {
	return byRank(values, Noise(len(values), h, src))
}

// Target returns the values in an order for which estimate, a function of this package, gives
// h within 0.005. If it finds none, the error states the smallest distance.
func Target(values []float64, h float64, estimate func([]float64) Estimate, src rand.Source) ([]float64, error) {
	if !(h > 0 && h < 1) {
		return nil, fmt.Errorf("hurst exponent %v is not in (0,1)", h)
	}
	z := newNoise(len(values), src)
	lo, hi := 0.01, 0.99
	best, off := []float64(nil), math.Inf(1)
	for range 30 {
		m := (lo + hi) / 2
		series := byRank(values, z.series(m))
		got := estimate(series).H
		if d := math.Abs(got - h); d < off {
			best, off = series, d
		}
		if off <= 0.005 {
			return best, nil
		}
		if got < h {
			lo = m
		} else {
			hi = m
		}
	}
	return nil, fmt.Errorf("hurst exponent %v: no order of these %d values is closer than %v", h, len(values), off)
}

// byRank returns the values in the order of the ranks of like.
func byRank(values, like []float64) []float64 {
	order := make([]int, len(like))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(like[a], like[b]), cmp.Compare(a, b))
	})
	sorted := slices.Sorted(slices.Values(values))
	out := make([]float64, len(values))
	for rank, at := range order {
		out[at] = sorted[rank]
	}
	return out
}
