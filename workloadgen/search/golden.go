// Package search finds the minimum of a function of one variable.
package search

// Golden returns the position of the minimum of f in [lo, hi], within width, which must be
// positive. The function must have a single minimum there. It uses golden-section search.
func Golden(f func(float64) float64, lo, hi, width float64) float64 {
	const r = 0.6180339887498949
	a, b := hi-r*(hi-lo), lo+r*(hi-lo)
	fa, fb := f(a), f(b)
	for hi-lo > width {
		if fa < fb {
			hi, b, fb = b, a, fa
			a = hi - r*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + r*(hi-lo)
			fb = f(b)
		}
	}
	return (lo + hi) / 2
}
