package dist

import (
	"fmt"
	"math"
	"sort"
)

// Discrete is a distribution on a finite number of values.
type Discrete struct {
	values     []float64 // ascending
	cumulative []float64 // one per value; the last is 1
}

// newDiscrete returns the distribution on the ascending values with the given weights, one per
// value. Weights must be at least 0 and have a positive sum, by which they are divided.
func newDiscrete(values, weights []float64) (*Discrete, error) {
	if len(values) == 0 || len(values) != len(weights) {
		return nil, fmt.Errorf("%d values and %d weights", len(values), len(weights))
	}
	d := &Discrete{values: values, cumulative: make([]float64, len(weights))}
	sum := 0.0
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			return nil, fmt.Errorf("weight %d: found %v, want a number at least 0", i+1, w)
		}
		if i > 0 && !(values[i] > values[i-1]) {
			return nil, fmt.Errorf("value %v is not more than %v, the previous one", values[i], values[i-1])
		}
		sum += w
		d.cumulative[i] = sum
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return nil, fmt.Errorf("the weights sum to %v", sum)
	}
	last := 0
	for i, w := range weights {
		d.cumulative[i] /= sum
		if w > 0 {
			last = i
		}
	}
	for i := last; i < len(weights); i++ {
		d.cumulative[i] = 1
	}
	return d, nil
}

// Rank returns the position, from 0, of the u-quantile for u in (0,1).
func (d *Discrete) Rank(u float64) int {
	if len(d.cumulative) <= 16 {
		for i, c := range d.cumulative {
			if u <= c {
				return i
			}
		}
		return len(d.cumulative) - 1
	}
	return min(sort.SearchFloat64s(d.cumulative, u), len(d.cumulative)-1)
}

// CDF implements [Distribution].
func (d *Discrete) CDF(x float64) float64 {
	i := sort.Search(len(d.values), func(i int) bool { return d.values[i] > x })
	if i == 0 {
		return 0
	}
	return d.cumulative[i-1]
}

// Quantile implements [Distribution].
func (d *Discrete) Quantile(u float64) float64 { return d.values[d.Rank(u)] }

// Mean implements [Distribution].
func (d *Discrete) Mean() float64 {
	return d.expect(func(x float64) float64 { return x })
}

// Variance implements [Distribution].
func (d *Discrete) Variance() float64 {
	m := d.Mean()
	return d.expect(func(x float64) float64 { return (x - m) * (x - m) })
}

func (d *Discrete) expect(f func(float64) float64) float64 {
	sum, below := 0.0, 0.0
	for i, c := range d.cumulative {
		sum += (c - below) * f(d.values[i])
		below = c
	}
	return sum
}
