package dist

import (
	"bourse/workloadgen/config"
	"math"
)

// ZipfOptions are the options of "zipf". The defaults are the alternative to BinBin in the
// paper, Zipf(1.4) over the six exponents.
type ZipfOptions struct {
	S      float64 `yaml:"s" validate:"min=0" doc:"exponent"`
	N      int     `yaml:"n" validate:"min=1,max=1000000" doc:"number of ranks"`
	Binary bool    `yaml:"binary" doc:"the value is 2^(rank+shift), not the rank"`
	Shift  int     `yaml:"shift" doc:"added to the exponents"`
}

// blueHorizonZipf returns the paper's job sizes as a power law of one parameter.
func blueHorizonZipf() ZipfOptions { return ZipfOptions{S: 1.4, N: 6, Binary: true, Shift: 2} }

func newZipf(decode func(any) error) (Distribution, error) {
	o := blueHorizonZipf()
	if err := decode(&o); err != nil {
		return nil, err
	}
	return NewZipf(o)
}

// NewZipf returns the distribution of ranks 1 to N with probability proportional to rank^-S, or
// of powers of two of these ranks.
func NewZipf(o ZipfOptions) (*Discrete, error) {
	if err := config.Check(&o); err != nil {
		return nil, err
	}
	values, weights := make([]float64, o.N), make([]float64, o.N)
	for i := range weights {
		values[i] = float64(i + 1)
		weights[i] = math.Pow(values[i], -o.S)
	}
	if o.Binary {
		return powers(weights, o.Shift)
	}
	return newDiscrete(values, weights)
}
