package stats

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// power returns the probability that such a test detects the effect (see [SampleFor]).
func power(effect float64, n int, paired bool, level float64) float64 {
	df, shift := n-1, effect*math.Sqrt(float64(n))
	if !paired {
		df, shift = 2*n-2, effect*math.Sqrt(float64(n)/2)
	}
	c := CriticalT(level/2, df)
	if df > 10_000 { // the deviation is known practically exactly
		return distuv.UnitNormal.CDF(shift-c) + distuv.UnitNormal.CDF(-shift-c)
	}
	// T is (Z + shift) divided by the root of V/df, with V chi-squared: the mean over V of
	// the probability that it stays within c.
	v := distuv.ChiSquared{K: float64(df)}
	within := quad.Fixed(func(u float64) float64 {
		reach := c * math.Sqrt(v.Quantile(u)/float64(df))
		return distuv.UnitNormal.CDF(reach-shift) - distuv.UnitNormal.CDF(-reach-shift)
	}, 0, 1, 128, quad.Legendre{}, 0)
	return min(1, max(0, 1-within))
}

// SampleFor returns the smallest n with which a two-sided t test at level detects a true
// effect with probability least. The effect is the mean divided by its standard deviation, of
// n differences of pairs or, unless paired, of two samples of n each. There is none (ok is
// false) if ten million are not enough.
func SampleFor(effect, least float64, paired bool, level float64) (n int, ok bool) {
	if effect == 0 {
		return 0, false
	}
	return leastSize(func(n int) bool { return power(math.Abs(effect), n, paired, level) >= least })
}
