package dist

import (
	"fmt"
	"math"
)

// BinBinOptions are the options of "binbin". The defaults are the paper's histogram of the San
// Diego Blue Horizon (§2, eq. 3), whose weights sum to 0.998.
type BinBinOptions struct {
	Weights []float64 `yaml:"weights" doc:"weights of the exponents 1, 2, ..."`
	Shift   int       `yaml:"shift" doc:"added to the exponents"`
}

// BlueHorizonSize returns the paper's job sizes.
func BlueHorizonSize() BinBinOptions {
	return BinBinOptions{Weights: []float64{0.508, 0.144, 0.126, 0.137, 0.048, 0.035}, Shift: 2}
}

func newBinBin(decode func(any) error) (Distribution, error) {
	o := BinBinOptions{Shift: 2}
	if err := decode(&o); err != nil {
		return nil, err
	}
	if o.Weights == nil {
		o.Weights = BlueHorizonSize().Weights
	}
	return NewBinBin(o)
}

// NewBinBin returns the distribution of 2^(X+Shift), where X = 1, 2, ... has the given
// weights. The rank of a value is X - 1.
func NewBinBin(o BinBinOptions) (*Discrete, error) {
	return powers(o.Weights, o.Shift)
}

func powers(weights []float64, shift int) (*Discrete, error) {
	if top := len(weights) + shift; shift < -100 || top > 100 {
		return nil, fmt.Errorf("exponents %d to %d are not in -100..100", 1+shift, top)
	}
	values := make([]float64, len(weights))
	for i := range values {
		values[i] = math.Exp2(float64(i + 1 + shift))
	}
	return newDiscrete(values, weights)
}
