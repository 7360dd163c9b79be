package stats

import (
	"math/rand/v2"
	"slices"
)

// Bootstrap returns the percentile interval of a statistic of xs. It draws resamples from xs
// with replacement, and returns the middle part of the distribution of the statistic (Efron
// and Tibshirani, §13.3). The probability of this part is level, in (0,1). The statistic
// receives a slice that it may reorder but must not retain. If there are fewer than two
// values, there is no interval and ok is false. Bootstrap panics unless level is in (0,1) and
// resamples is positive.
func Bootstrap(xs []float64, level float64, resamples int, rng *rand.Rand, statistic func([]float64) float64) (lo, hi float64, ok bool) {
	if !(level > 0 && level < 1) || resamples < 1 {
		panic("stats: bootstrap: found a level outside (0,1), or no resamples")
	}
	if len(xs) < 2 {
		return 0, 0, false
	}
	draw := make([]float64, len(xs))
	values := make([]float64, resamples)
	for i := range values {
		for j := range draw {
			draw[j] = xs[rng.IntN(len(xs))]
		}
		values[i] = statistic(draw)
	}
	slices.Sort(values)
	tail := (1 - level) / 2
	return Quantile(values, tail), Quantile(values, 1-tail), true
}

// Mean returns the mean of xs, which must not be empty.
func Mean(xs []float64) float64 {
	mean, _ := moments(xs)
	return mean
}
