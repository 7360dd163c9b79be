package dist

import (
	"fmt"
	"math"
)

// ZipfOptions are those of "zipf"; the defaults are the paper's rival of
// BinBin, Zipf(1.4) over its six exponents.
type ZipfOptions struct {
	S      float64 `yaml:"s" doc:"exponent, at least 0"`
	N      int     `yaml:"n" doc:"number of ranks, in 1..10^6"`
	Binary bool    `yaml:"binary" doc:"the value is 2^(rank+shift), not the rank"`
	Shift  int     `yaml:"shift" doc:"added to the exponents"`
}

// BlueHorizonZipf returns the paper's job sizes as a power law of one parameter.
func BlueHorizonZipf() ZipfOptions { return ZipfOptions{S: 1.4, N: 6, Binary: true, Shift: 2} }

func newZipf(decode func(any) error) (Distribution, error) {
	o := BlueHorizonZipf()
	if err := decode(&o); err != nil {
		return nil, err
	}
	return NewZipf(o)
}

// NewZipf makes the law of ranks 1 to N with probability proportional to
// rank^-S, or of powers of two of them.
func NewZipf(o ZipfOptions) (*Discrete, error) {
	if !(o.S >= 0) || math.IsInf(o.S, 1) {
		return nil, fmt.Errorf("s %v is not a number at least 0", o.S)
	}
	if o.N < 1 || o.N > 1e6 {
		return nil, fmt.Errorf("n %d is not in 1..1000000", o.N)
	}
	values, weights := make([]float64, o.N), make([]float64, o.N)
	for i := range weights {
		values[i] = float64(i + 1)
		weights[i] = math.Pow(values[i], -o.S)
	}
	if o.Binary {
		return powers(weights, o.Shift)
	}
	return NewDiscrete(values, weights)
}
