package dist

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"bourse/workloadgen/plainyaml"
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
	var said struct {
		Name    string           `yaml:"name"`
		Options map[string]value `yaml:"options"`
	}
	if err := unmarshal(&said); err != nil {
		return err
	}
	*s = Spec{Name: said.Name}
	if said.Options != nil {
		s.Options = make(map[string]any, len(said.Options))
		for k, v := range said.Options {
			s.Options[k] = v.any
		}
	}
	return nil
}

// A value is what stands in options. Where no type says what is wanted, some readers
// of YAML return 1e3 as text; asked for a number, they return that.
type value struct{ any }

// UnmarshalYAML asks for numbers first, where the text is one.
func (v *value) UnmarshalYAML(unmarshal func(any) error) error {
	if err := unmarshal(&v.any); err != nil {
		return err
	}
	switch x := v.any.(type) {
	case string:
		var number float64
		if strings.ContainsAny(x, "eE") && unmarshal(&number) == nil {
			v.any = number
		}
	case map[string]any:
		var inner map[string]value
		if err := unmarshal(&inner); err != nil {
			return err
		}
		for k, item := range inner {
			x[k] = item.any
		}
	case []any:
		var inner []value
		if err := unmarshal(&inner); err != nil {
			return err
		}
		for i, item := range inner {
			x[i] = item.any
		}
	}
	return nil
}

// Decode fills in out from the options, refusing unknown fields. It is what
// the New of a table takes.
func (s Spec) Decode(out any) error {
	if len(s.Options) == 0 {
		return nil
	}
	if err := plainyaml.Decode(s.Options, out); err != nil {
		return fmt.Errorf("options of %s: %w", s.Name, err)
	}
	return nil
}

// New makes the distribution that s names.
func (s Spec) New(rng *rand.Rand) (Distribution, error) { return New(s.Name, s.Decode, rng) }
