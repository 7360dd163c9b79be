package dist

import "math"

// invert returns the x in [lo, hi] at which the increasing function f reaches u. The function
// f returns its value and slope. Newton steps start from guess. A step that leaves the bracket
// is replaced by bisection, so the search always ends.
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
			return next // each Newton step squares the error, so only a rounding error remains
		}
		x = next
	}
	return x
}

// cells is the number of equal parts of (0,1) between which a guide has knots.
const cells = 256

// A guide provides starting points for the search for quantiles. It has a cubic for each cell,
// through the y with F(y) = i/cells and their slopes. Cells next to a NaN knot have no cubic.
type guide struct {
	knots, slopes [cells + 1]float64
}

// newGuide creates the guide of a distribution by a search for each knot. The function law
// returns the distribution function and the density at y.
func newGuide(law func(float64) (float64, float64), search func(u float64) float64) *guide {
	g := new(guide)
	g.knots[0], g.knots[cells] = math.NaN(), math.NaN()
	for i := 1; i < cells; i++ {
		y := search(float64(i) / cells)
		_, density := law(y)
		g.knots[i], g.slopes[i] = y, 1/(cells*density)
	}
	return g
}

// start returns the bracket of the quantile of u and a guess in it. In the cells at both ends,
// ok is false.
func (g *guide) start(u float64) (lo, hi, guess float64, ok bool) {
	i := int(u * cells)
	if i < 0 || i >= cells {
		return 0, 0, 0, false
	}
	lo, hi = g.knots[i], g.knots[i+1]
	t := u*cells - float64(i)
	r := 1 - t
	guess = r*r*((1+2*t)*lo+t*g.slopes[i]) + t*t*((3-2*t)*hi-r*g.slopes[i+1])
	return lo, hi, guess, hi > lo
}

// solve returns the x in [lo, hi] at which the increasing function f reaches u, except for
// rounding. It uses Chandrupatla's method, which is inverse quadratic interpolation where that
// is safe, and bisection elsewhere.
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
