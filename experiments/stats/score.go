package stats

import "math"

// Score returns the interval of the mean of a quantity that lies in [lo,hi], finite, by
// Wilson's score (1927), which misses it with a probability of alpha, in (0,1). Its ends
// lie in [lo,hi]. Each value counts for as many trials as its variance is smaller than a
// trial's (the effective sample size of Korn and Graubard 1998), and the critical value is
// Student's. Where values are all alike each counts for one trial, so that the interval
// has a width. There is none, ok false, with fewer than two.
func Score(xs []float64, lo, hi, alpha float64) (from, to float64, ok bool) {
	if !(alpha > 0 && alpha < 1) || !(lo < hi) || math.IsInf(hi-lo, 0) {
		panic("stats: score of a level outside (0,1), or of what has no bounds")
	}
	n := float64(len(xs))
	if n < 2 {
		return 0, 0, false
	}
	mean, squares := moments(xs)
	mean = min(1, max(0, (mean-lo)/(hi-lo)))
	trials := n
	if !constant(xs, largest(xs)) {
		trials = max(n, mean*(1-mean)*n*(n-1)/(squares/(hi-lo)/(hi-lo)))
	}
	t := critical(alpha, len(xs))
	k := t * t / trials
	centre, half := (mean+k/2)/(1+k), math.Sqrt(k*(mean*(1-mean)+k/4))/(1+k)
	return lo + (hi-lo)*max(0, centre-half), lo + (hi-lo)*min(1, centre+half), true
}
