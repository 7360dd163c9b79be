package stats

import "math"

// Anytime returns an interval for the mean of independent values xs within [lo,hi]. With
// probability 1-alpha, it contains the mean at every number of values simultaneously, so
// looking after each value and stopping when the interval is narrow preserves its coverage.
// It is a confidence sequence:
//
//   - between finite ends, of bets that the mean is higher or lower, each at half of alpha
//     (Waudby-Smith and Ramdas 2024, §4, a mixture of eight constant bets), whatever the
//     distribution;
//   - otherwise, of the t tests of Wang and Ramdas (2025, §4: effects of either sign, normal
//     with variance 1/100), if values are normal; of others it holds as their means become
//     so, and there is none before some 30 values.
//
// There is none (ok is false) if it is unbounded: with few values or, without ends, for
// values that do not vary. It panics unless alpha is in (0,1).
func Anytime(xs []float64, lo, hi, alpha float64) (l, u float64, ok bool) {
	if !(alpha > 0 && alpha < 1) {
		panic("stats: interval of a level outside (0,1)")
	}
	if len(xs) == 0 {
		return 0, 0, false
	}
	if !math.IsInf(lo, 0) && !math.IsInf(hi, 0) {
		up, down := make([]float64, len(xs)), make([]float64, len(xs))
		for i, x := range xs {
			up[i] = (x - lo) / (hi - lo)
			down[i] = 1 - up[i]
		}
		return lo + (hi-lo)*leastMean(up, alpha/2), hi - (hi-lo)*leastMean(down, alpha/2), true
	}
	if len(xs) < 2 || constant(xs, largest(xs)) {
		return 0, 0, false
	}
	mean, squares := moments(xs)
	n := float64(len(xs))
	r := 1 + n/100 // variance of the mean, with the prior and without it
	k := math.Pow(math.Sqrt(r)/alpha, 2/n)
	if k >= r {
		return 0, 0, false
	}
	t := math.Sqrt((n - 1) * (k - 1) / (1 - k/r))
	half := t * math.Sqrt(squares/(n-1)/n)
	return mean - half, mean + half, true
}

// Above reports whether the interval of [Anytime] lies above m, without computing its ends.
func Above(xs []float64, m, lo, hi, alpha float64) bool {
	if math.IsInf(lo, 0) || math.IsInf(hi, 0) || m <= lo {
		l, _, ok := Anytime(xs, lo, hi, alpha)
		return ok && l > m
	}
	scaled := make([]float64, len(xs))
	for i, x := range xs {
		scaled[i] = (x - lo) / (hi - lo)
	}
	return won(scaled, (m-lo)/(hi-lo)) >= -math.Log(alpha/2)
}

// stakes are the fractions of the capital to bet on a mean above m, where x pays x/m - 1: no
// bet can lose more than the capital.
var stakes = [...]float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 0.95}

// leastMean returns the largest m such that bets that the mean of xs, all in [0,1], is above
// m have won 1/alpha times their stake. With probability 1-alpha, the mean is at least m.
// Their capital falls with m.
func leastMean(xs []float64, alpha float64) float64 {
	lo, hi := 0.0, 1.0
	for range 50 {
		if mid := (lo + hi) / 2; won(xs, mid) >= -math.Log(alpha) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// won returns the logarithm of the final capital of bets, starting from 1, that the mean of
// xs is above m.
func won(xs []float64, m float64) float64 {
	most, capital := math.Inf(-1), 0.0
	var logs [len(stakes)]float64
	for i, s := range stakes {
		product := 1.0
		for k, x := range xs {
			if product *= 1 + s*(x/m-1); k%16 == 15 { // 0.05^16 and 100^16 are still representable, or +Inf
				logs[i] += math.Log(product)
				product = 1
			}
		}
		logs[i] += math.Log(product)
		most = max(most, logs[i])
	}
	if math.IsInf(most, 1) {
		return most
	}
	for _, l := range logs {
		capital += math.Exp(l - most)
	}
	return most + math.Log(capital/float64(len(stakes)))
}
