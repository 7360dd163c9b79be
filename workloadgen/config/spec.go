package config

import (
	"errors"
	"fmt"
	"maps"
)

// A Spec names a member of a table and its options. A file writes the name alone, or
// one mapping of both:
//
//	runtime: {name: weibull, shape: 0.7, scale: 300}
//
// Two older forms are read too:
//
//	runtime: {name: weibull, options: {shape: 0.7, scale: 300}}
//	matchmaker: {threshold: {threshold: 0.8}}
type Spec struct {
	Name    string         `yaml:"name"`
	Options map[string]any `yaml:"options,omitempty"`
}

// Want says what a file may write.
func (Spec) Want() string { return "a name, or a mapping of name and options" }

// UnmarshalYAML takes all forms. Options without a name are of the member that s names.
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
	name, options, err := named(said, s.Name)
	*s = Spec{name, options}
	return err
}

// named returns the name and the options of a mapping in any form; under is the name of
// options that come without one.
func named(said map[string]any, under string) (name string, options map[string]any, err error) {
	options = maps.Clone(said)
	inner, apart := said["options"]
	switch x, has := said["name"]; {
	case has:
		if name, has = x.(string); !has {
			return "", nil, fmt.Errorf("name: found %v, want text", x)
		}
		delete(options, "name")
	case apart:
		name = under
	case len(said) == 1:
		for name, inner = range said {
			apart = true
		}
		options = map[string]any{"options": inner}
	}
	switch {
	case name == "":
		return "", nil, errors.New("found a mapping without a name, want a name, or a mapping of name and options")
	case !apart:
		return name, options, nil
	case len(options) != 1:
		return "", nil, fmt.Errorf("%s: found options and other fields, want only the name and options", name)
	}
	options, ok := inner.(map[string]any)
	if !ok && inner != nil {
		return "", nil, fmt.Errorf("%s: found %v, want a mapping of options", name, inner)
	}
	return name, options, nil
}

// Decode fills in out from the options, refusing unknown fields. It is what the New of
// a table takes.
func (s Spec) Decode(out any) error {
	if len(s.Options) == 0 {
		return nil
	}
	return Decode(s.Options, out)
}
