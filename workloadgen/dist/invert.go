package dist

import "math"

// invert returns the x in [lo, hi] where the increasing function f reaches u.
// f returns its value and slope. Newton's steps start from guess; a step that
// leaves the bracket is replaced by its middle, so the search always ends.
func invert(f func(float64) (float64, float64), u, lo, hi, guess float64) float64 {
	x := guess
	if !(x > lo && x < hi) {
		x = lo + (hi-lo)/2
	}
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

// solve returns the x in [lo, hi] where the increasing function f reaches u, to
// rounding, by Chandrupatla's method: inverse quadratic interpolation where it
// is safe, halving where it is not.
func solve(f func(float64) float64, u, lo, hi float64) float64 {
	a, b := lo, hi
	fa, fb := f(a)-u, f(b)-u
	if fa >= 0 {
		return a
	}
	if fb <= 0 {
		return b
	}
	t := 0.5
	for range 200 {
		x := a + t*(b-a)
		fx := f(x) - u
		var c, fc float64
		if (fx < 0) == (fa < 0) {
			c, fc = a, fa
		} else {
			c, fc = b, fb
			b, fb = a, fa
		}
		a, fa = x, fx
		best := a
		if math.Abs(fb) < math.Abs(fa) {
			best = b
		}
		tol := 4e-16 * math.Abs(best)
		if limit := tol / math.Abs(b-c); fx == 0 || limit > 0.5 || math.Abs(b-a) <= tol {
			return best
		} else if xi, phi := (a-b)/(c-b), (fa-fb)/(fc-fb); phi*phi < xi && (1-phi)*(1-phi) < 1-xi {
			t = fa/(fb-fa)*fc/(fb-fc) + (c-a)/(b-a)*fa/(fc-fa)*fb/(fc-fb)
			t = math.Min(1-limit, math.Max(limit, t))
		} else {
			t = 0.5
		}
	}
	return a + t*(b-a)
}
