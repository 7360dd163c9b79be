package stats

import "math"

// Reach returns a distance that the mean of m further values does not exceed, measured from
// the mean of n values, except with probability alpha. The n values have the standard
// deviation sd. The distance is t sd √(1/n + 1/m). It corresponds to the prediction interval
// for the mean of a second sample from the same normal distribution (Hahn and Meeker 1991,
// §4.7). The standard deviation is estimated only from the n values, so t has n-1 degrees of
// freedom for any m. Reach panics unless n is at least 2, m is positive and alpha is in (0,1).
func Reach(sd float64, n, m int, alpha float64) float64 {
	if n < 2 || m < 1 || !(alpha > 0 && alpha < 1) {
		panic("stats: reach: found fewer than two values, no target, or a level outside (0,1)")
	}
	return critical(alpha, n) * sd * math.Sqrt(1/float64(n)+1/float64(m))
}
