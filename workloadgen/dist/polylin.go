package dist

import (
	"bourse/workloadgen/config"
	"fmt"
	"math"
)

// PolyLin is the distribution of runtimes in seconds whose distribution function is a parabola
// in x = ln(runtime) (§2, eq. 2):
//
//	F(x) = A x^2 + B x + C
//
// from Min up to the point at which F reaches 1. The paper omits values below Min, "less than 7
// per cent". Here their probability, F(ln Min), is assigned to Min. To condition on an
// interval, use [Within].
type PolyLin struct {
	o            PolyLinOptions
	min          float64 // Min, or the point at which F leaves 0 if that is larger
	lo, hi, atom float64 // ln min, where F reaches 1, F(lo)
}

// PolyLinOptions are the options of "polylin". The defaults are the paper's fit to the San
// Diego Blue Horizon.
type PolyLinOptions struct {
	A   float64 `yaml:"a" validate:"max=0" doc:"coefficient of x^2"`
	B   float64 `yaml:"b" validate:"gt=0" doc:"coefficient of x"`
	C   float64 `yaml:"c" doc:"constant term"`
	Min float64 `yaml:"min" validate:"gt=0" doc:"seconds at which the parabola starts"`
}

// BlueHorizonRuntime returns the paper's runtimes.
func BlueHorizonRuntime() PolyLinOptions {
	return PolyLinOptions{A: -0.0125, B: 0.3018, C: -0.8184, Min: 30}
}

func newPolyLin(decode func(any) error) (Distribution, error) {
	o := BlueHorizonRuntime()
	if err := decode(&o); err != nil {
		return nil, err
	}
	return NewPolyLin(o)
}

// NewPolyLin returns the distribution. The parabola must reach 1 while it rises.
func NewPolyLin(o PolyLinOptions) (*PolyLin, error) {
	if err := config.Check(&o); err != nil {
		return nil, err
	}
	if o.B*o.B < 4*o.A*(o.C-1) {
		return nil, fmt.Errorf("the parabola %v x^2 + %v x + %v does not reach 1", o.A, o.B, o.C)
	}
	p := &PolyLin{o: o, min: o.Min, lo: math.Log(o.Min)}
	p.hi = p.root(1)
	if zero := p.root(0); p.lo < zero {
		p.lo, p.min = zero, math.Exp(zero)
	}
	if p.lo >= p.hi {
		return nil, fmt.Errorf("min %v is not below the largest runtime, %v", o.Min, math.Exp(p.hi))
	}
	p.atom = math.Max(0, p.parabola(p.lo))
	return p, nil
}

func (p *PolyLin) parabola(x float64) float64 { return (p.o.A*x+p.o.B)*x + p.o.C }

// root returns the x at which the rising branch reaches u.
func (p *PolyLin) root(u float64) float64 {
	c := p.o.C - u
	return -2 * c / (p.o.B + math.Sqrt(p.o.B*p.o.B-4*p.o.A*c))
}

// CDF implements [Distribution].
func (p *PolyLin) CDF(t float64) float64 {
	if t < p.min {
		return 0
	}
	x := math.Log(t)
	if x >= p.hi {
		return 1
	}
	return math.Max(0, p.parabola(x))
}

// Quantile implements [Distribution].
func (p *PolyLin) Quantile(u float64) float64 {
	switch {
	case u <= p.atom:
		return p.min
	case u >= 1:
		return math.Exp(p.hi)
	}
	return math.Exp(p.root(u))
}

// Mean implements [Distribution].
func (p *PolyLin) Mean() float64 { return p.moment(1) }

// Variance implements [Distribution].
func (p *PolyLin) Variance() float64 {
	m := p.moment(1)
	return p.moment(2) - m*m
}

// moment returns the n-th moment: the moment of the atom plus the integral of e^(nx) (2 A x +
// B) over [lo, hi].
func (p *PolyLin) moment(n float64) float64 {
	primitive := func(x float64) float64 {
		return math.Exp(n*x) * ((2*p.o.A*x+p.o.B)/n - 2*p.o.A/(n*n))
	}
	return p.atom*math.Exp(n*p.lo) + primitive(p.hi) - primitive(p.lo)
}
