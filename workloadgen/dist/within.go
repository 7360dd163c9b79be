package dist

import (
	"bourse/workloadgen/config"
	"fmt"
	"math"
)

// Conditioned is a continuous distribution given that it lies in an interval.
type Conditioned struct {
	of       Distribution
	lo, hi   float64
	flo, fhi float64
}

// WithinOptions are the options of "within".
type WithinOptions struct {
	Of  config.Spec `yaml:"of" doc:"distribution"`
	Min float64     `yaml:"min" doc:"lower end"`
	Max float64     `yaml:"max" doc:"upper end, more than min"`
}

func newWithin(decode func(any) error) (Distribution, error) {
	var o WithinOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	if o.Of.Name == "" {
		o.Of.Name = "uniform"
		if o.Min == 0 && o.Max == 0 {
			o.Max = 1
		}
	}
	d, err := Table().New(o.Of.Name, o.Of.Decode)
	if err != nil {
		return nil, err
	}
	return Within(d, o.Min, o.Max)
}

// Within returns d given that it lies in (lo, hi]. It returns an error if that interval has
// probability 0.
func Within(d Distribution, lo, hi float64) (*Conditioned, error) {
	c := &Conditioned{of: d, lo: lo, hi: hi, flo: d.CDF(lo), fhi: d.CDF(hi)}
	if !(c.fhi > c.flo) {
		return nil, fmt.Errorf("the distribution has no mass in %v to %v", lo, hi)
	}
	return c, nil
}

// CDF implements [Distribution].
func (c *Conditioned) CDF(x float64) float64 {
	switch {
	case x <= c.lo:
		return 0
	case x >= c.hi:
		return 1
	}
	return (c.of.CDF(x) - c.flo) / (c.fhi - c.flo)
}

// Quantile implements [Distribution].
func (c *Conditioned) Quantile(u float64) float64 {
	x := c.of.Quantile(c.flo + u*(c.fhi-c.flo))
	return math.Min(math.Max(x, c.lo), c.hi)
}

// Mean implements [Distribution]. The mean is lo plus the integral of 1 - CDF. The interval
// must be finite.
func (c *Conditioned) Mean() float64 {
	return c.lo + integrate(func(x float64) float64 { return 1 - c.CDF(x) }, c.lo, c.hi)
}

// Variance implements [Distribution].
func (c *Conditioned) Variance() float64 {
	m := c.Mean() - c.lo
	return integrate(func(x float64) float64 { return 2 * (x - c.lo) * (1 - c.CDF(x)) }, c.lo, c.hi) - m*m
}
