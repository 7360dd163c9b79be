package predictors

import (
	"fmt"
	"math/rand/v2"
)

// A Spec names a predictor and its options, as files write it: the name alone,
// or
//
//	name: tde
//	options: {days: 3, count: floor}
type Spec struct {
	Name    string         `yaml:"name"`
	Options map[string]any `yaml:"options,omitempty"`
}

// UnmarshalYAML takes a bare name too.
func (s *Spec) UnmarshalYAML(unmarshal func(any) error) error {
	var name string
	if unmarshal(&name) == nil {
		*s = Spec{Name: name}
		return nil
	}
	type plain Spec
	return unmarshal((*plain)(s))
}

// New makes the predictor that s names.
func (s Spec) New(rng *rand.Rand) (Predictor, error) { return New(s.Name, s.decode, rng) }

// decode fills in out from the options, refusing unknown fields.
func (s Spec) decode(out any) error {
	if len(s.Options) == 0 {
		return nil
	}
	if err := Decode(s.Options, out); err != nil {
		return fmt.Errorf("options: %w", err)
	}
	return nil
}
