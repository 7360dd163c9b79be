package stats

import "math"

// Pearson returns the correlation coefficient of xs and ys, in [-1,1]. It is undefined (ok is
// false) if there are fewer than two points, or if either series is constant except for
// rounding. Pearson panics unless both slices have the same length.
func Pearson(xs, ys []float64) (r float64, ok bool) {
	if len(xs) != len(ys) {
		panic("stats: correlation: found series of different lengths")
	}
	if len(xs) < 2 {
		return 0, false
	}
	mx, sxx := moments(xs)
	my, syy := moments(ys)
	if constant(xs, largest(xs)) || constant(ys, largest(ys)) {
		return 0, false
	}
	dx, dy := math.Sqrt(sxx), math.Sqrt(syy)
	if dx == 0 || dy == 0 { // the squares of very small numbers underflow
		return 0, false
	}
	for i := range xs {
		r += (xs[i] - mx) / dx * ((ys[i] - my) / dy)
	}
	return max(-1, min(1, r)), true
}
