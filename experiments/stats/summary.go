// Package stats computes numbers from samples: means with intervals, paired comparisons,
// correlations, resampling and quantiles.
//
// It operates on slices of float64 and is independent of their meaning. Samples must
// contain only finite numbers. If they do not, the functions panic. The caller must omit
// replications in which a value is undefined. If a result is undefined, ok is false and the
// other results are zero. Functions never return NaN or infinity.
//
// Sums are computed in two passes in the order of the slice. Equal inputs therefore have equal
// results, and a large common offset does not reduce the precision.
package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Summary describes one sample.
//
// SD is the sample standard deviation (divisor N-1). Lo95 and Hi95 are the 95 % [Interval] of
// the mean. An undefined number is 0. Mean is undefined if N is 0, and SD is undefined if N is
// below 2 (see [Summary.HasDeviation]). Lo95 and Hi95 are undefined if there is no interval
// (see [Summary.HasInterval]).
type Summary struct {
	N                    int
	Mean, SD, Lo95, Hi95 float64

	interval bool
}

// Summarize describes the sample xs, which are values of q.
func Summarize(xs []float64, q Quantity) Summary { return make(Critical).Summarize(xs, q) }

// A Critical caches the t values of 95 % intervals by sample size, because their computation
// takes most of the time of a summary.
type Critical map[int]float64

// Summarize describes the sample xs, which are values of q.
func (c Critical) Summarize(xs []float64, q Quantity) Summary {
	s := Summary{N: len(xs)}
	if s.N == 0 {
		return s
	}
	mean, squares := moments(xs)
	s.Mean = mean
	if !s.HasDeviation() {
		return s
	}
	s.SD = math.Sqrt(squares / float64(s.N-1))
	t, known := c[s.N]
	if !known {
		t = critical(0.05, s.N)
		c[s.N] = t
	}
	s.Lo95, s.Hi95, s.interval = q.interval(xs, mean, squares, t)
	return s
}

// Deviation returns the sample standard deviation of xs, which must have at least two values.
func Deviation(xs []float64) float64 {
	_, squares := moments(xs)
	return math.Sqrt(squares / float64(len(xs)-1))
}

// HasDeviation reports whether SD is defined: N is 2 or more.
func (s Summary) HasDeviation() bool { return s.N >= 2 }

// HasInterval reports whether Lo95 and Hi95 are defined. Tables leave these cells empty if
// they are undefined.
func (s Summary) HasInterval() bool { return s.interval }

// CriticalT returns the value that Student's t with df degrees of freedom exceeds with
// probability level (one-sided). For a two-sided test, pass half the level. CriticalT
// panics unless level is in (0,1) and df is positive.
func CriticalT(level float64, df int) float64 {
	if !(level > 0 && level < 1) || df < 1 {
		panic("stats: critical t: found a level outside (0,1), or no degrees of freedom")
	}
	return -student(df).Quantile(level)
}

func student(df int) distuv.StudentsT {
	return distuv.StudentsT{Sigma: 1, Nu: float64(df)}
}

// Mean returns the mean of xs, which must not be empty.
func Mean(xs []float64) float64 {
	mean, _ := moments(xs)
	return mean
}

// moments returns the mean of xs and the sum of squared deviations from it. There must be
// at least one value.
func moments(xs []float64) (mean, squares float64) {
	n := float64(len(xs))
	for _, x := range xs {
		mean += x
	}
	mean /= n
	var rest float64 // correction of the rounding error of the mean
	for _, x := range xs {
		d := x - mean
		rest += d
		squares += d * d
	}
	mean += rest / n
	squares = max(0, squares-rest*rest/n)
	if math.IsNaN(squares) || math.IsInf(squares, 0) {
		panic("stats: found a sample that is not finite, or is too large to square")
	}
	return mean, squares
}

// constant reports whether xs vary by no more than the rounding error of numbers as large
// as scale.
func constant(xs []float64, scale float64) bool {
	lo, hi := xs[0], xs[0]
	for _, x := range xs {
		lo, hi = min(lo, x), max(hi, x)
	}
	return hi-lo <= rounding*scale
}

// rounding is the relative spread below which numbers count as equal. It is a few hundred
// units in the last place, which is the error of a short computation.
const rounding = 1e-13

// largest returns the largest absolute value in xs.
func largest(xs []float64) float64 {
	var m float64
	for _, x := range xs {
		m = max(m, math.Abs(x))
	}
	return m
}
