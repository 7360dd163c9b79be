package study

import (
	"math"
	"slices"
	"strconv"

	"bourse/experiments/report"
)

// defined returns the elements of xs that are not NaN.
func defined(xs []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(xs), math.IsNaN)
}

// maybe returns x in a form that may be null in JSON.
func maybe(x *float64) report.Maybe {
	if x == nil {
		return report.Maybe(math.NaN())
	}
	return report.Maybe(*x)
}

// digits formats x in a format of [strconv.FormatFloat], or as a dash if x is undefined.
func digits(x float64, format byte, n int) string {
	if !report.Maybe(x).Exists() {
		return "–"
	}
	return strconv.FormatFloat(x, format, n, 64)
}

// point returns a point of a figure with its interval, if there is one.
func point(x float64, mean, lo, hi report.Maybe) report.Point {
	p := report.Point{X: x, Mean: float64(mean), Lo: float64(mean), Hi: float64(mean)}
	if lo.Exists() && hi.Exists() {
		p.Lo, p.Hi = float64(lo), float64(hi)
	}
	return p
}

// flat returns a point of a figure without an interval.
func flat(x, y float64) report.Point { return report.Point{X: x, Mean: y, Lo: y, Hi: y} }
