package value

import (
	"fmt"
	"math"
)

// Pareto is a power law above Min: P(V > v) = (Min/v)^Shape.
type Pareto struct {
	Shape float64 `yaml:"shape" doc:"exponent, more than 0; 1.16 is the 80-20 rule"`
	Min   float64 `yaml:"min" doc:"smallest value, more than 0"`
}

func newPareto(decode func(any) error) (Model, error) {
	p := Pareto{Shape: 1.16, Min: 1}
	if err := decode(&p); err != nil {
		return nil, err
	}
	if !(p.Shape > 0) || math.IsInf(p.Shape, 1) {
		return nil, fmt.Errorf("shape %v is not a number more than 0", p.Shape)
	}
	if !(p.Min > 0) || math.IsInf(p.Min, 1) {
		return nil, fmt.Errorf("min %v is not a number more than 0", p.Min)
	}
	return p, nil
}

// Quantile implements [Model].
func (p Pareto) Quantile(u float64) float64 {
	return p.Min * math.Exp(-math.Log1p(-u)/p.Shape)
}
