package dist

import (
	"bourse/workloadgen/config"
	"fmt"
)

// Mixture draws from A with probability P, and from B with probability 1 - P.
type Mixture struct {
	P    float64 // in [0,1]
	A, B Distribution
}

// MixtureOptions are the options of "mixture".
type MixtureOptions struct {
	P float64     `yaml:"p" validate:"min=0,max=1" doc:"weight of a"`
	A config.Spec `yaml:"a" doc:"distribution; omitted, exponential"`
	B config.Spec `yaml:"b" doc:"distribution; omitted, exponential"`
}

func newMixture(decode func(any) error) (Distribution, error) {
	o := MixtureOptions{P: 0.5, A: config.Spec{Name: "exponential"}, B: config.Spec{Name: "exponential"}}
	if err := decode(&o); err != nil {
		return nil, err
	}
	a, err := Table().New(o.A.Name, o.A.Decode)
	if err != nil {
		return nil, fmt.Errorf("a: %w", err)
	}
	b, err := Table().New(o.B.Name, o.B.Decode)
	if err != nil {
		return nil, fmt.Errorf("b: %w", err)
	}
	return Mixture{P: o.P, A: a, B: b}, nil
}

// CDF implements [Distribution].
func (m Mixture) CDF(x float64) float64 { return m.P*m.A.CDF(x) + (1-m.P)*m.B.CDF(x) }

// Quantile implements [Distribution]. The result lies between the quantiles of A and B.
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
