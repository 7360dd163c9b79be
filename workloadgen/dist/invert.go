package dist

import "math"

// invert returns the x in [lo, hi] where the increasing function f reaches u.
// f returns its value and slope. Newton's steps start from guess; a step that
// leaves the bracket is replaced by its middle, so the search always ends.
func invert(f func(float64) (float64, float64), u, lo, hi, guess float64) float64 {
	x := guess
	for range 200 {
		v, slope := f(x)
		switch {
		case v < u:
			lo = x
		case v > u:
			hi = x
		default:
			return x
		}
		next := x + (u-v)/slope
		if !(next > lo && next < hi) {
			next = lo + (hi-lo)/2
			if next <= lo || next >= hi {
				return next
			}
		} else if math.Abs(next-x) <= 1e-9*math.Max(1, math.Abs(next)) {
			return next // Newton's error is squared: beyond this it is rounding
		}
		x = next
	}
	return x
}

// bisect returns the x in [lo, hi] where the increasing cdf reaches u, to
// rounding.
func bisect(cdf func(float64) float64, u, lo, hi float64) float64 {
	for range 2000 {
		m := lo + (hi-lo)/2
		if m <= lo || m >= hi {
			break
		}
		if cdf(m) < u {
			lo = m
		} else {
			hi = m
		}
	}
	return hi
}
