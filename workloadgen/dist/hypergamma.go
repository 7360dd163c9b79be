package dist

// HyperGammaOptions are the options of "hypergamma".
type HyperGammaOptions struct {
	P      float64 `yaml:"p" validate:"min=0,max=1" doc:"weight of the first gamma"`
	Shape1 float64 `yaml:"shape1" validate:"gt=0" doc:"shape of the first gamma"`
	Scale1 float64 `yaml:"scale1" validate:"gt=0" doc:"scale of the first gamma"`
	Shape2 float64 `yaml:"shape2" validate:"gt=0" doc:"shape of the second gamma"`
	Scale2 float64 `yaml:"scale2" validate:"gt=0" doc:"scale of the second gamma"`
}

func newHyperGamma(decode func(any) error) (Distribution, error) {
	o := HyperGammaOptions{P: 0.5, Shape1: 1, Scale1: 1, Shape2: 1, Scale2: 1}
	if err := decode(&o); err != nil {
		return nil, err
	}
	return Mixture{
		P: o.P,
		A: NewGamma(o.Shape1, o.Scale1),
		B: NewGamma(o.Shape2, o.Scale2),
	}, nil
}
