package dist

import (
	"fmt"
	"math/rand/v2"

	"github.com/goccy/go-yaml"
)

// A Spec names a member of a table and its options, as files write it: the name
// alone, or
//
//	name: weibull
//	options: {shape: 0.7, scale: 300}
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

// Decode fills in out from the options, refusing unknown fields. It is what
// the New of a table takes.
func (s Spec) Decode(out any) error {
	if len(s.Options) == 0 {
		return nil
	}
	text, err := yaml.Marshal(s.Options)
	if err != nil {
		return fmt.Errorf("options of %s: %w", s.Name, err)
	}
	if err := yaml.UnmarshalWithOptions(text, out, yaml.Strict()); err != nil {
		return fmt.Errorf("options of %s: %w", s.Name, err)
	}
	return nil
}

// New makes the distribution that s names.
func (s Spec) New(rng *rand.Rand) (Distribution, error) { return New(s.Name, s.Decode, rng) }
