package stats

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// power returns the probability that a two-sided t test with n values detects the effect (see
// [SampleFor]).
func power(effect float64, n int, paired bool, level float64) float64 {
	df, shift := n-1, effect*math.Sqrt(float64(n))
	if !paired {
		df, shift = 2*n-2, effect*math.Sqrt(float64(n)/2)
	}
	c := CriticalT(level/2, df)
	if df > 10_000 { // with this many degrees of freedom, the deviation is practically known
		return distuv.UnitNormal.CDF(shift-c) + distuv.UnitNormal.CDF(-shift-c)
	}
	// T is (Z + shift) divided by the square root of V/df, where V is chi-squared. Compute
	// the mean over V of the probability that T stays within c.
	v := distuv.ChiSquared{K: float64(df)}
	within := quad.Fixed(func(u float64) float64 {
		reach := c * math.Sqrt(v.Quantile(u)/float64(df))
		return distuv.UnitNormal.CDF(reach-shift) - distuv.UnitNormal.CDF(-reach-shift)
	}, 0, 1, 128, quad.Legendre{}, 0)
	return min(1, max(0, 1-within))
}

// SampleFor returns the smallest n for which a two-sided t test at the given level detects a
// true effect with probability at least least. The effect is a mean divided by its standard
// deviation. If paired, n is the number of pairs, and the mean is the mean of their
// differences. If not, there are two samples of n values each. If ten million values are not
// sufficient, ok is false.
func SampleFor(effect, least float64, paired bool, level float64) (n int, ok bool) {
	if effect == 0 {
		return 0, false
	}
	return leastSize(func(n int) bool { return power(math.Abs(effect), n, paired, level) >= least })
}
