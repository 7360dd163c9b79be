package sched

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"bourse/hosts/availability/predictors"
)

// A Spec names a matchmaker and its options, as files write it: the name alone, or
//
//	threshold: {threshold: 0.8, predictor: {name: tde, options: {days: 3}}}
type Spec struct {
	Name    string         `yaml:"name"`
	Options map[string]any `yaml:"options,omitempty"`
}

// UnmarshalYAML takes both forms.
func (s *Spec) UnmarshalYAML(unmarshal func(any) error) error {
	var name string
	if unmarshal(&name) == nil {
		*s = Spec{Name: name}
		return nil
	}
	var said map[string]any
	if err := unmarshal(&said); err != nil {
		return err
	}
	if len(said) != 1 {
		return fmt.Errorf("found %d names, want one of %s with its options", len(said), strings.Join(Names(), ", "))
	}
	for name, options := range said {
		*s = Spec{Name: name}
		var ok bool
		if s.Options, ok = options.(map[string]any); !ok && options != nil {
			return fmt.Errorf("%s: found %v, want a mapping of its options", name, options)
		}
	}
	return nil
}

// New makes the matchmaker that s names.
func (s Spec) New(rng *rand.Rand) (Matchmaker, error) { return New(s.Name, s.decode, rng) }

// decode fills in out from the options, refusing unknown fields.
func (s Spec) decode(out any) error {
	if len(s.Options) == 0 {
		return nil
	}
	if err := predictors.Decode(s.Options, out); err != nil {
		return fmt.Errorf("options: %w", err)
	}
	return nil
}
