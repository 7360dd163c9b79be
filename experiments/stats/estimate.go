package stats

import (
	"math"
)

// An Estimate is a number estimated from replications, with an interval at any level. The
// following functions return estimates: [Fieller], [Sample.Estimate], [Spread],
// [Estimate.Less].
type Estimate struct {
	N     int // number of replications
	Value float64

	interval func(alpha float64) (lo, hi float64) // nil if there is no interval
	reach    func(alpha float64, n int) float64   // half-width of the interval for n replications with the same variation as these
}

// Interval returns an interval that fails to contain the true number with probability alpha.
// Each end excludes the true number with at most half of this probability. The ends can be
// infinite. If there is only one replication, or if all replications are equal and the values
// are unbounded, ok is false. Interval panics unless alpha is in (0,1).
func (e Estimate) Interval(alpha float64) (lo, hi float64, ok bool) {
	if !(alpha > 0 && alpha < 1) {
		panic("stats: interval: found a level outside (0,1)")
	}
	if e.interval == nil {
		return 0, 0, false
	}
	lo, hi = e.interval(alpha)
	return lo, hi, true
}

// Level returns the smallest alpha for which within is true for the interval. If within is
// true for an interval, it must also be true for every interval inside it. The result is the
// p-value of the hypothesis that within is false. It is 1 if within is false for every
// interval.
func (e Estimate) Level(within func(lo, hi float64) bool) float64 {
	const least = 1e-15 // smaller levels are treated like this one
	holds := func(exponent float64) bool { return within(e.interval(math.Pow(10, exponent))) }
	lo, hi := math.Log10(least), -1e-9
	switch {
	case e.interval == nil || !holds(hi):
		return 1
	case holds(lo):
		return least
	}
	for range 40 { // nine digits of precision
		if mid := (lo + hi) / 2; holds(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return math.Pow(10, hi)
}

// Needed returns the number of replications that would reduce the half-width of the interval
// at alpha to at most half, if they vary as much as these. The result ok is false if half is
// not positive, if there is no interval, or if ten million replications are not sufficient.
func (e Estimate) Needed(alpha, half float64) (n int, ok bool) {
	if !(half > 0) || e.interval == nil {
		return 0, false
	}
	return leastSize(func(n int) bool { return e.reach(alpha, n) <= half })
}

const mostNeeded = 10_000_000

// leastSize returns the smallest sample size, at least 2, for which enough returns true. If
// enough returns true for a size, it must return true for all larger sizes. If the size
// mostNeeded is not sufficient, ok is false.
func leastSize(enough func(n int) bool) (n int, ok bool) {
	hi := 2
	for hi <= mostNeeded && !enough(hi) {
		hi *= 2
	}
	lo := hi / 2
	for lo+1 < hi {
		if mid := (lo + hi) / 2; enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, hi <= mostNeeded
}

// reachOf returns a function that computes the half-width of Student's interval for a mean
// of n values with the given standard deviation.
func reachOf(sd float64) func(alpha float64, n int) float64 {
	return func(alpha float64, n int) float64 { return critical(alpha, n) * sd / math.Sqrt(float64(n)) }
}

// critical returns the two-sided critical value of Student's t for n values.
func critical(alpha float64, n int) float64 { return CriticalT(alpha/2, n-1) }

// ofMean returns the mean of xs with Student's interval. There must be at least one value, and
// all values must lie in [lo,hi]. If all xs are equal, Student's interval has width 0,
// although other values may be possible. An event with a probability above 1 - alpha^(1/n)
// would have occurred in n draws, except with probability alpha. The interval is therefore
// extended by the maximum effect of a rarer event on the mean within [lo,hi]. If lo or hi is
// infinite, there is no interval.
func ofMean(xs []float64, lo, hi float64) Estimate {
	mean, squares := moments(xs)
	n := len(xs)
	e := Estimate{N: n, Value: mean}
	switch {
	case n < 2:
	case !constant(xs, largest(xs)):
		e.reach = reachOf(math.Sqrt(squares / float64(n-1)))
		e.interval = func(alpha float64) (float64, float64) {
			half := e.reach(alpha, n)
			return max(mean-half, min(lo, mean)), min(mean+half, max(hi, mean))
		}
	case !math.IsInf(lo, 0) && !math.IsInf(hi, 0):
		unseen := func(alpha float64, n int) float64 { return -math.Expm1(math.Log(alpha) / float64(n)) }
		e.interval = func(alpha float64) (float64, float64) {
			p := unseen(alpha, n)
			return mean + p*min(0, lo-mean), mean + p*max(0, hi-mean)
		}
		e.reach = func(alpha float64, n int) float64 { return unseen(alpha, n) * max(mean-lo, hi-mean) }
	}
	return e
}

// Fieller returns the ratio of the means of xs and ys, which are paired, with Fieller's
// interval (1954). The interval contains every ratio r for which the mean of x - r y does
// not differ significantly from 0. If the mean of ys does not differ significantly from 0,
// the interval is unbounded. If that mean is 0, there is no ratio and ok is false. Fieller
// panics unless both slices have the same positive length.
func Fieller(xs, ys []float64) (e Estimate, ok bool) {
	if len(xs) != len(ys) {
		panic("stats: difference: found paired samples of different lengths")
	}
	mx, sxx := moments(xs)
	my, syy := moments(ys)
	if my == 0 {
		return Estimate{}, false
	}
	n := len(xs)
	e = Estimate{N: n, Value: mx / my}
	rest := make([]float64, n)
	for i := range rest {
		rest[i] = xs[i] - e.Value*ys[i]
	}
	if n < 2 || constant(rest, max(largest(xs), math.Abs(e.Value)*largest(ys))) {
		return e, true
	}
	sxy := 0.0
	for i := range xs {
		sxy += (xs[i] - mx) * (ys[i] - my)
	}
	e.interval = func(alpha float64) (float64, float64) {
		// (mx - r my)² = t² (sxx - 2 r sxy + r² syy)/(n(n-1))
		t := critical(alpha, n)
		k := t * t / float64(n) / float64(n-1)
		a, b, c := my*my-k*syy, mx*my-k*sxy, mx*mx-k*sxx
		if a <= 0 {
			return math.Inf(-1), math.Inf(1)
		}
		root := math.Sqrt(max(0, b*b-a*c)) // the argument is below 0 only by a rounding error
		return (b - root) / a, (b + root) / a
	}
	// Use the delta method, whose result is always finite and accurate enough for the number
	// of replications needed.
	_, squares := moments(rest)
	e.reach = reachOf(math.Sqrt(squares/float64(n-1)) / math.Abs(my))
	return e, true
}
