package value

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Normal is a normal distribution whose values below Min are raised to Min. The paper requires
// positive values, but does not say how to obtain them.
type Normal struct {
	Mean float64 `yaml:"mean" doc:"mean before truncation"`
	SD   float64 `yaml:"sd" validate:"gt=0" doc:"standard deviation before truncation"`
	Min  float64 `yaml:"min" validate:"min=0" doc:"minimum: smaller values are raised to it"`
}

func newNormal(decode func(any) error) (Model, error) {
	n := Normal{Mean: 1, SD: 1, Min: 0.05}
	err := decode(&n)
	return n, err
}

// Quantile implements [Model].
func (n Normal) Quantile(u float64) float64 {
	return math.Max(n.Min, n.Mean+n.SD*distuv.UnitNormal.Quantile(u))
}
