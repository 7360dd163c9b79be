package dist

import "fmt"

// Mixture is a draw of A with probability P, else of B.
type Mixture struct {
	P    float64 // in [0,1]
	A, B Distribution
}

// HyperGammaOptions are those of "hypergamma".
type HyperGammaOptions struct {
	P      float64 `yaml:"p"` // weight of the first, in [0,1]; 0.5
	Shape1 float64 `yaml:"shape1"`
	Scale1 float64 `yaml:"scale1"`
	Shape2 float64 `yaml:"shape2"`
	Scale2 float64 `yaml:"scale2"`
}

func newHyperGamma(decode func(any) error) (Distribution, error) {
	o := HyperGammaOptions{P: 0.5, Shape1: 1, Scale1: 1, Shape2: 1, Scale2: 1}
	if err := decode(&o); err != nil {
		return nil, err
	}
	if err := positive("shape1", o.Shape1, "scale1", o.Scale1, "shape2", o.Shape2, "scale2", o.Scale2); err != nil {
		return nil, err
	}
	if !(o.P >= 0 && o.P <= 1) {
		return nil, fmt.Errorf("p %v is not in [0,1]", o.P)
	}
	return Mixture{
		P: o.P,
		A: NewGamma(o.Shape1, o.Scale1),
		B: NewGamma(o.Shape2, o.Scale2),
	}, nil
}

// CDF implements [Distribution].
func (m Mixture) CDF(x float64) float64 { return m.P*m.A.CDF(x) + (1-m.P)*m.B.CDF(x) }

// Quantile implements [Distribution]: it lies between those of A and B.
func (m Mixture) Quantile(u float64) float64 {
	switch m.P {
	case 0:
		return m.B.Quantile(u)
	case 1:
		return m.A.Quantile(u)
	}
	a, b := m.A.Quantile(u), m.B.Quantile(u)
	return solve(m.CDF, u, min(a, b), max(a, b))
}

// Mean implements [Distribution].
func (m Mixture) Mean() float64 { return m.P*m.A.Mean() + (1-m.P)*m.B.Mean() }

// Variance implements [Distribution].
func (m Mixture) Variance() float64 {
	d := m.A.Mean() - m.B.Mean()
	return m.P*m.A.Variance() + (1-m.P)*m.B.Variance() + m.P*(1-m.P)*d*d
}
