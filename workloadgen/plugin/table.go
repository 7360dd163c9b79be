// Package plugin creates the members of a family, such as the admission policies, by name, and
// suggests corrections for misspelled names.
//
// A member is one file and one entry in the table of its family:
//
//	func Table() plugin.Table[Predictor] {
//		return plugin.Table[Predictor]{Kind: "predictor", Members: plugin.Members[Predictor]{
//			"naive": {"the share of the last days in which the host was available", newNaive},
//
// Its options are a struct with its defaults. Tags name the fields, restrict their values and
// describe them; package config reads these tags:
//
//	type NaiveOptions struct {
//		Days int `yaml:"days" validate:"min=1" doc:"number of past days"`
//	}
//
//	func newNaive(decode plugin.Decoder) (Predictor, error) {
//		o := NaiveOptions{Days: 6}
//		err := decode(&o)
//		return Naive{float64(o.Days)}, err
//	}
//
// The package is independent of files and of the meaning of families. It imports no other
// package of the module, and any package may import it.
package plugin

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// A Decoder sets the fields of an options struct, given by pointer, and does not change fields
// that the input omits. It rejects unknown fields and values that violate their tags.
type Decoder = func(options any) error

// A Table lists the members of a family by their names in files.
type Table[T any] struct {
	Kind    string // name of the kind of members, for messages
	Members Members[T]
}

// Members maps names to members: a one-line description, and a function that creates the
// member. The function must decode the member's options first.
type Members[T any] map[string]struct {
	Doc string
	New func(Decoder) (T, error)
}

// New creates the member with the given name, using the options that decode sets. If decode is
// nil, it uses the defaults.
func (t Table[T]) New(name string, decode Decoder) (T, error) {
	var none T
	m, ok := t.Members[name]
	if !ok {
		return none, fmt.Errorf("unknown %s %q, %s", t.Kind, Clip(name), OneOf(name, t.Names()))
	}
	if decode == nil {
		decode = func(any) error { return nil }
	}
	made, err := m.New(decode)
	if err != nil {
		return none, fmt.Errorf("%s %s: %w", t.Kind, name, err)
	}
	return made, nil
}

// Names returns the names of the members, sorted.
func (t Table[T]) Names() []string { return slices.Sorted(maps.Keys(t.Members)) }

// Doc returns the one-line description of the named member, or an empty string if it does not
// exist.
func (t Table[T]) Doc(name string) string { return t.Members[name].Doc }

var errDefaults = errors.New("only the defaults are wanted")

// Defaults returns a pointer to the options of the named member with their defaults, or nil if
// the member does not exist. It does not create the member.
func (t Table[T]) Defaults(name string) (options any) {
	if m, ok := t.Members[name]; ok {
		_, _ = m.New(func(o any) error {
			options = o
			return errDefaults
		})
	}
	return options
}

// Is returns the function that creates a member without options. The member is always v.
func Is[T any](v T) func(Decoder) (T, error) {
	return func(decode Decoder) (T, error) { return v, decode(&struct{}{}) }
}
