package stats

import (
	"math"
)

// An Estimate is a number estimated from replications, with its interval at any level:
// [Fieller], [Sample.Estimate], [Spread], [Estimate.Less].
type Estimate struct {
	N     int // replications
	Value float64

	interval func(alpha float64) (lo, hi float64) // nil if there is none
	reach    func(alpha float64, n int) float64   // its half-width with n replications, if they vary as these do
}

// Interval returns the interval that misses the number with probability alpha, half of it at
// each end. Its ends can be infinite. There is none (ok is false) with one replication, or if
// all replications are equal and the values are unbounded. It panics unless alpha is in
// (0,1).
func (e Estimate) Interval(alpha float64) (lo, hi float64, ok bool) {
	if !(alpha > 0 && alpha < 1) {
		panic("stats: interval of a level outside (0,1)")
	}
	if e.interval == nil {
		return 0, 0, false
	}
	lo, hi = e.interval(alpha)
	return lo, hi, true
}

// Level returns the smallest alpha at which the interval satisfies within, which must be
// monotone: if it holds for an interval, it holds for every interval inside. This is the p
// value of the opposite of within. It is 1 if no interval satisfies within.
func (e Estimate) Level(within func(lo, hi float64) bool) float64 {
	const least = 1e-15 // smaller levels are not distinguished
	holds := func(exponent float64) bool { return within(e.interval(math.Pow(10, exponent))) }
	lo, hi := math.Log10(least), -1e-9
	switch {
	case e.interval == nil || !holds(hi):
		return 1
	case holds(lo):
		return least
	}
	for range 40 { // nine digits
		if mid := (lo + hi) / 2; holds(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return math.Pow(10, hi)
}

// Needed returns how many replications would give the interval at alpha a half-width of at
// most half, if they vary as these do. There is none (ok is false) unless half is positive,
// there is an interval, and ten million are enough.
func (e Estimate) Needed(alpha, half float64) (n int, ok bool) {
	if !(half > 0) || e.interval == nil {
		return 0, false
	}
	return leastSize(func(n int) bool { return e.reach(alpha, n) <= half })
}

const mostNeeded = 10_000_000

// leastSize returns the smallest sample size of at least 2 that is enough; enough must be
// monotone. ok is false if mostNeeded is not enough.
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

// reachOf returns the half-width of Student's interval of a mean of n values with that
// deviation.
func reachOf(sd float64) func(alpha float64, n int) float64 {
	return func(alpha float64, n int) float64 { return critical(alpha, n) * sd / math.Sqrt(float64(n)) }
}

// critical returns the two-sided critical value of Student's t for n values.
func critical(alpha float64, n int) float64 { return CriticalT(alpha/2, n-1) }

// ofMean returns the mean of xs, which must not be empty and lie in [lo,hi], with Student's
// interval. If all xs are equal, that interval has no width, although other values may be
// possible. An event with a probability of more than 1 - alpha^(1/n) would have occurred in n
// draws, except with probability alpha. The interval therefore covers what a rarer event can
// make of the mean within [lo,hi]; there is none if these are infinite.
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

// Fieller returns the ratio of the means of xs and ys, taken in pairs, with Fieller's
// interval (1954): the ratios r for which the mean of x - r y does not differ significantly
// from 0. If the mean of ys does not differ significantly from 0, the interval is unbounded.
// There is no ratio (ok is false) if that mean is 0. Fieller panics unless the lengths are
// the same and not 0.
func Fieller(xs, ys []float64) (e Estimate, ok bool) {
	if len(xs) != len(ys) {
		panic("stats: paired samples differ in length")
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
		root := math.Sqrt(max(0, b*b-a*c)) // below 0 by rounding alone
		return (b - root) / a, (b + root) / a
	}
	// By the delta method: accurate enough for the number needed, and finite.
	_, squares := moments(rest)
	e.reach = reachOf(math.Sqrt(squares/float64(n-1)) / math.Abs(my))
	return e, true
}
