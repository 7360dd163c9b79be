package stats

import "math"

// Reach returns the maximum distance, except with probability alpha, of the mean of m further
// values from the mean of n values with standard deviation sd: t sd √(1/n + 1/m). It is the
// prediction interval of the mean of a second sample from the same normal distribution (Hahn
// and Meeker 1991, §4.7). The deviation comes only from the n values, so t has n-1 degrees of
// freedom, whatever m is. Reach panics unless n is 2 or more, m is positive and alpha is in
// (0,1).
func Reach(sd float64, n, m int, alpha float64) float64 {
	if n < 2 || m < 1 || !(alpha > 0 && alpha < 1) {
		panic("stats: reach of fewer than two values, to none, or of a level outside (0,1)")
	}
	return critical(alpha, n) * sd * math.Sqrt(1/float64(n)+1/float64(m))
}
