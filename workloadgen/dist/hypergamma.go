package dist

import "fmt"

// HyperGammaOptions are those of "hypergamma".
type HyperGammaOptions struct {
	P      float64 `yaml:"p" doc:"weight of the first, in [0,1]"`
	Shape1 float64 `yaml:"shape1" doc:"of the first, more than 0"`
	Scale1 float64 `yaml:"scale1" doc:"of the first, more than 0"`
	Shape2 float64 `yaml:"shape2" doc:"of the second"`
	Scale2 float64 `yaml:"scale2" doc:"of the second"`
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
