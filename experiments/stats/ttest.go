package stats

// A TTest compares two samples taken in pairs, such as the runs of two policies on the same
// plans. Its null hypothesis is that their means are the same.
type TTest struct {
	DF   int     // degrees of freedom: pairs - 1
	Mean float64 // mean of first minus second
	T    float64 // above 0 if the first sample's mean is higher

	// Greater is the probability of a T at least this high if the means are the same;
	// TwoSided is the probability of a T at least as far from 0, above or below. Both are in [0,1].
	Greater, TwoSided float64

	// Critical is the value that T must exceed to be significant at 5 %, one-sided: 2.1318 at
	// 4 degrees of freedom.
	Critical float64
}

// Significant reports whether the first sample's mean is higher at the
// one-sided 5 % level.
func (t TTest) Significant() bool { return t.T > t.Critical }

// PairedT compares xs with ys, pair by pair. The test is undefined (ok is false) with fewer
// than two pairs, or if all differences are equal (to rounding), because t would be 0/0 or
// infinite. It panics unless the lengths are the same.
func PairedT(xs, ys []float64) (t TTest, ok bool) {
	d, ok := Pairs(xs, ys)
	if !ok {
		return TTest{}, false
	}
	t = TTest{DF: d.N - 1, Mean: d.Mean, T: d.Mean / d.err, TwoSided: d.P()}
	t.Greater = d.dist.CDF(-t.T)
	t.Critical = CriticalT(0.05, t.DF)
	return t, true
}
