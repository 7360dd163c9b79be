package stats

import "math"

// Anytime returns an interval for the mean of the independent values xs, which lie in [lo,hi].
// With probability 1-alpha, the intervals for every number of values contain the mean
// simultaneously. A caller may therefore compute the interval after each value, and stop when
// it is sufficiently narrow. Such a sequence of intervals is called a confidence sequence.
// There are two methods:
//
//   - If lo and hi are finite, it uses bets that the mean is higher or lower, each at half
//     of alpha: a mixture of eight constant bets (Waudby-Smith and Ramdas 2024, §4). The
//     interval is valid for any distribution.
//   - If not, it uses the t tests of Wang and Ramdas (2025, §4: effects of either sign,
//     normal with variance 1/100). The interval is valid for normal values, and for other
//     values once their mean is nearly normal. There is none for fewer than about 30 values.
//
// If the interval is unbounded, ok is false. This is the case for few values. If lo or hi is
// infinite, it is also the case for values that do not vary. Anytime panics unless alpha is in
// (0,1).
func Anytime(xs []float64, lo, hi, alpha float64) (l, u float64, ok bool) {
	if !(alpha > 0 && alpha < 1) {
		panic("stats: interval: found a level outside (0,1)")
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
	r := 1 + n/100 // ratio of the variances of the mean without and with the prior
	k := math.Pow(math.Sqrt(r)/alpha, 2/n)
	if k >= r {
		return 0, 0, false
	}
	t := math.Sqrt((n - 1) * (k - 1) / (1 - k/r))
	half := t * math.Sqrt(squares/(n-1)/n)
	return mean - half, mean + half, true
}

// Above reports whether the interval of [Anytime] is above m, without computing its ends.
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

// stakes are the fractions of the capital that are bet on a mean above m. A bet on x pays x/m
// - 1, so no bet can lose more than the capital.
var stakes = [...]float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 0.95}

// leastMean returns the largest m for which bets on a mean above m have multiplied their
// capital by 1/alpha. All xs are in [0,1]. With probability 1-alpha, the mean is at least m.
// The capital decreases as m increases.
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

// won returns the logarithm of the final capital of bets on a mean above m. The initial
// capital is 1.
func won(xs []float64, m float64) float64 {
	most, capital := math.Inf(-1), 0.0
	var logs [len(stakes)]float64
	for i, s := range stakes {
		product := 1.0
		for k, x := range xs {
			if product *= 1 + s*(x/m-1); k%16 == 15 { // take logarithms every 16 factors: 0.05^16 and 100^16 do not underflow, and larger products become +Inf
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
