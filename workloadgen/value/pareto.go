package value

import (
	"math"
)

// Pareto is a power law above Min: P(V > v) = (Min/v)^Shape.
type Pareto struct {
	Shape float64 `yaml:"shape" validate:"gt=0" doc:"exponent; 1.16 is the 80-20 rule"`
	Min   float64 `yaml:"min" validate:"gt=0" doc:"smallest value"`
}

func newPareto(decode func(any) error) (Model, error) {
	p := Pareto{Shape: 1.16, Min: 1}
	err := decode(&p)
	return p, err
}

// Quantile implements [Model].
func (p Pareto) Quantile(u float64) float64 {
	return p.Min * math.Exp(-math.Log1p(-u)/p.Shape)
}
