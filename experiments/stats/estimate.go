package stats

import (
	"math"
)

// An Estimate is a number that replications estimate, with the interval of it at any
// level: [Fieller], [Sample.Estimate], [Spread], [Estimate.Less].
type Estimate struct {
	N     int // replications
	Value float64

	interval func(alpha float64) (lo, hi float64) // nil if there is none
	reach    func(alpha float64, n int) float64   // how far to either side it would reach with n, if they vary as these do
}

// Interval returns the interval that misses the number with a probability of alpha, half
// of it at each end. Its ends can be infinite. There is none, ok false, with one
// replication, and where replications are all alike and nothing bounds them. It panics
// unless alpha is in (0,1).
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

// Level returns the least alpha at which the interval is as within says, which must hold
// of every interval inside one of which it holds: the p value of what within denies. It
// is 1 if it holds of none.
func (e Estimate) Level(within func(lo, hi float64) bool) float64 {
	const least = 1e-15 // smaller ones are not told apart
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

// Needed returns how many replications would make the interval at alpha reach no farther
// than half to either side, if they vary as these do. There is none, ok false, unless half
// is positive, there is an interval, and ten million are enough.
func (e Estimate) Needed(alpha, half float64) (n int, ok bool) {
	if !(half > 0) || e.interval == nil {
		return 0, false
	}
	return leastSize(func(n int) bool { return e.reach(alpha, n) <= half })
}

const mostNeeded = 10_000_000

// leastSize returns the least size of a sample, 2 or more, that is enough, as all larger
// ones are; ok is false if mostNeeded is not.
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

// reachOf returns how far Student's interval of a mean reaches with n values of that
// deviation.
func reachOf(sd float64) func(alpha float64, n int) float64 {
	return func(alpha float64, n int) float64 { return critical(alpha, n) * sd / math.Sqrt(float64(n)) }
}

// critical returns the two-sided critical value of Student's t for n values.
func critical(alpha float64, n int) float64 { return CriticalT(alpha/2, n-1) }

// ofMean returns the mean of xs, not empty, which lie in [lo,hi], with Student's interval.
// Where xs are all equal that has no width, though what was not seen may happen: with a
// probability of more than 1 - alpha^(1/n) n draws would show it but for a chance of
// alpha. So the interval is what less than that can make of the mean within [lo,hi]; there
// is none if they are infinite.
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
// interval (1954): the ratios r for which the mean of x - r y is not significantly other
// than 0. Where the mean of ys is not significantly other than 0 it is unbounded. There is
// no ratio, ok false, if that mean is 0. Fieller panics unless the lengths are the same
// and not 0.
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
	// By the delta method: near enough to say how many are needed, and finite.
	_, squares := moments(rest)
	e.reach = reachOf(math.Sqrt(squares/float64(n-1)) / math.Abs(my))
	return e, true
}
