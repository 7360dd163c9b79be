package stats

// A TTest compares two paired samples, such as the runs of two policies on the same plans.
// The null hypothesis is that their means are equal.
type TTest struct {
	DF   int     // degrees of freedom: pairs - 1
	Mean float64 // mean of first minus second
	T    float64 // positive if the first sample has the higher mean

	// If the means are equal, Greater is the probability of a T at least this high.
	// TwoSided is the probability of a T at least this far from 0 in either direction. Both
	// are in [0,1].
	Greater, TwoSided float64

	// Critical is the value that T must exceed to be significant at 5 %, one-sided. For
	// example, it is 2.1318 for 4 degrees of freedom.
	Critical float64
}

// Significant reports whether the first sample has the higher mean at the one-sided 5 %
// level.
func (t TTest) Significant() bool { return t.T > t.Critical }

// PairedT compares xs with ys pair by pair. The test is undefined (ok is false) with fewer
// than two pairs, or if all differences are equal except for rounding, because t would be
// 0/0 or infinite. PairedT panics unless both slices have the same length.
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
