package describe

import (
	"math"
	"slices"

	"bourse/workloadgen/dist"
	"bourse/workloadgen/gof"
)

// A Curve is a line of a figure, with one Y for each X in ascending order.
type Curve struct {
	Name string
	X, Y []float64
}

// CDF returns the distribution function of values, as quantiles at equal steps, in at most the
// given number of points, which must be at least 2.
func CDF(name string, values []float64, points int) Curve {
	sorted := slices.Sorted(slices.Values(values))
	c := Curve{Name: name}
	n := len(sorted)
	for k := range points {
		i := n * (k + 1) / points
		if i == 0 {
			continue
		}
		x := sorted[i-1]
		for i < n && sorted[i] == x { // include all equal values
			i++
		}
		if m := len(c.X); m > 0 && c.X[m-1] == x {
			continue
		}
		c.X, c.Y = append(c.X, x), append(c.Y, float64(i)/float64(n))
	}
	return c
}

// Law returns the distribution function of d at the given points.
func Law(name string, d dist.Distribution, at []float64) Curve {
	c := Curve{Name: name, X: at, Y: make([]float64, len(at))}
	for i, x := range at {
		c.Y[i] = d.CDF(x)
	}
	return c
}

// A Comparison compares two samples, or a sample with one from a distribution.
type Comparison struct {
	Test gof.Test
	QQ   Curve // quantiles of b divided by the quantiles of a, at the midpoints of equal steps
}

// Compare compares two samples, neither empty.
func Compare(name string, a, b []float64, points int) Comparison {
	a, b = slices.Clone(a), slices.Clone(b)
	c := Comparison{Test: gof.TwoSample(a, b), QQ: Curve{Name: name}} // sorts both samples
	for k := range points {
		p := (float64(k) + 0.5) / float64(points)
		c.QQ.X = append(c.QQ.X, a[int(math.Floor(p*float64(len(a))))])
		c.QQ.Y = append(c.QQ.Y, b[int(math.Floor(p*float64(len(b))))])
	}
	return c
}
