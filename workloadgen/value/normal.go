package value

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Normal is a normal law with what falls below Min raised to it: the paper's
// values must be positive, and it does not say how.
type Normal struct {
	Mean float64 `yaml:"mean" doc:"mean before the cut"`
	SD   float64 `yaml:"sd" doc:"standard deviation before the cut, more than 0"`
	Min  float64 `yaml:"min" doc:"values below are raised to it; at least 0"`
}

func newNormal(decode func(any) error) (Model, error) {
	n := Normal{Mean: 1, SD: 1, Min: 0.05}
	if err := decode(&n); err != nil {
		return nil, err
	}
	if math.IsNaN(n.Mean) || math.IsInf(n.Mean, 0) {
		return nil, fmt.Errorf("mean %v is not a number", n.Mean)
	}
	if !(n.SD > 0) || math.IsInf(n.SD, 1) {
		return nil, fmt.Errorf("sd %v is not a number more than 0", n.SD)
	}
	if !(n.Min >= 0) || math.IsInf(n.Min, 1) {
		return nil, fmt.Errorf("min %v is not a number at least 0", n.Min)
	}
	return n, nil
}

// Quantile implements [Model].
func (n Normal) Quantile(u float64) float64 {
	return math.Max(n.Min, n.Mean+n.SD*distuv.UnitNormal.Quantile(u))
}
