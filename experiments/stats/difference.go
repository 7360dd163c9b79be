package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Difference is the difference of two means, first sample minus second.
type Difference struct {
	N      int  // number of pairs, or number of values in the smaller sample
	Paired bool // whether the samples are paired; if not, they are independent
	Mean   float64
	Effect float64 // Mean divided by a standard deviation: for pairs, the standard deviation of the differences; otherwise, the root mean square of the deviations of both samples

	err  float64 // standard error of the mean
	dist distuv.StudentsT
}

// Pairs returns the difference of two paired samples. It cannot be tested (ok is false) if
// there are fewer than two pairs, or if all differences are equal except for rounding. Pairs
// panics unless both slices have the same length.
func Pairs(xs, ys []float64) (d Difference, ok bool) {
	if len(xs) != len(ys) {
		panic("stats: difference: found paired samples of different lengths")
	}
	diffs := make([]float64, len(xs))
	for i := range xs {
		diffs[i] = xs[i] - ys[i]
	}
	d = Difference{N: len(xs), Paired: true}
	if d.N == 0 {
		return d, false
	}
	s := Summarize(diffs, Quantity{})
	d.Mean = s.Mean
	if d.N < 2 || constant(diffs, max(largest(xs), largest(ys))) {
		return d, false
	}
	d.Effect, d.err, d.dist = s.Mean/s.SD, s.SD/math.Sqrt(float64(d.N)), student(d.N-1)
	return d, true
}

// Welch returns the difference between the means of two independent samples, whose variances
// may differ (Welch 1947). The difference cannot be tested (ok is false) if a sample has fewer
// than two values or if both samples are constant.
func Welch(xs, ys []float64) (d Difference, ok bool) {
	x, y := Summarize(xs, Quantity{}), Summarize(ys, Quantity{})
	d = Difference{N: min(x.N, y.N), Mean: x.Mean - y.Mean}
	if d.N < 2 || constant(xs, largest(xs)) && constant(ys, largest(ys)) {
		return d, false
	}
	a, b := x.SD*x.SD/float64(x.N), y.SD*y.SD/float64(y.N)
	d.err = math.Sqrt(a + b)
	d.dist = distuv.StudentsT{Sigma: 1, Nu: (a + b) * (a + b) / (a*a/float64(x.N-1) + b*b/float64(y.N-1))}
	d.Effect = d.Mean / math.Sqrt((x.SD*x.SD+y.SD*y.SD)/2)
	return d, true
}

// Interval returns an interval that does not contain the true difference with probability
// alpha, which is in (0,1).
func (d Difference) Interval(alpha float64) (lo, hi float64) {
	half := d.dist.Quantile(1-alpha/2) * d.err
	return d.Mean - half, d.Mean + half
}

// P returns the probability that the mean is at least as far from 0 as observed if there is no
// true difference.
func (d Difference) P() float64 { return min(1, 2*d.dist.CDF(-math.Abs(d.Mean)/d.err)) }

// Beyond returns the probability that the mean is at least as close to 0 as observed if the
// true difference is at least margin in either direction. It is the larger p-value of two
// one-sided tests (Schuirmann 1987).
func (d Difference) Beyond(margin float64) float64 {
	return d.dist.CDF((math.Abs(d.Mean) - margin) / d.err)
}
