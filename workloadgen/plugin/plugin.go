// Package plugin is what families of plug-ins are made with: a table of members by
// name, a name with its options as files write it ([Spec]), and options that their
// own struct reads and its tags check ([Check]).
//
// A member is one file and one line in the table of its family:
//
//	func Table() plugin.Table[Predictor] {
//		return plugin.Table[Predictor]{Kind: "predictor", Members: plugin.Members[Predictor]{
//			"naive": {"the share of the last days in which the host was available", newNaive},
//
// and its options are a struct with its defaults:
//
//	type NaiveOptions struct {
//		Days int `yaml:"days" validate:"min=1" doc:"past days looked at"`
//	}
//
//	func newNaive(decode plugin.Decoder) (Predictor, error) {
//		o := NaiveOptions{Days: 6}
//		err := decode(&o)
//		return Naive{float64(o.Days)}, err
//	}
//
// It does not know any family, where a text stands, or how a text is read.
//
// # Design
//
// It imports nothing of the house, and every room may import it, those on the ground
// too, which do not know one another: the layer test calls it a leaf. It is words and
// reflection, of which no room is the owner; with a copy in each room there were eleven
// tables, four readers of a name with options, and ranges compared by hand. The top
// level of the house is fixed, so it stands beside plainyaml, which reads the texts that
// it decodes.
package plugin

import (
	"fmt"
	"maps"
	"slices"
)

// A Decoder fills in a struct of options, a pointer to which it is given, from what is
// said, and leaves alone what is not said. It refuses unknown fields.
type Decoder = func(options any) error

// A Table lists the members of a family by the names that files use.
type Table[T any] struct {
	Kind    string // what a member is, for messages
	Members Members[T]
}

// Members are what a family has by name: a line that says what it does, and what makes
// it. That decodes the member's options before it does anything else.
type Members[T any] map[string]struct {
	Doc string
	New func(Decoder) (T, error)
}

// New makes the named member with the options that decode fills in; nil leaves the
// defaults. Options that their tags do not allow are an error.
func (t Table[T]) New(name string, decode Decoder) (T, error) {
	var none T
	m, ok := t.Members[name]
	if !ok {
		return none, fmt.Errorf("unknown %s %q, %s", t.Kind, Clip(name), OneOf(name, t.Names()))
	}
	made, err := m.New(func(options any) error {
		if decode == nil {
			return nil
		}
		if err := decode(options); err != nil {
			return err
		}
		return Check(options)
	})
	if err != nil {
		return none, fmt.Errorf("%s %s: %w", t.Kind, name, err)
	}
	return made, nil
}

// Again makes the named member with options that New has found good: it looks at
// neither.
func (t Table[T]) Again(name string, decode Decoder) (T, error) { return t.Members[name].New(decode) }

// Make makes the member that s names.
func (t Table[T]) Make(s Spec) (T, error) { return t.New(s.Name, s.Decode) }

// Names returns the names of the members, sorted.
func (t Table[T]) Names() []string { return slices.Sorted(maps.Keys(t.Members)) }

// Doc returns the named member in one line, empty if there is none.
func (t Table[T]) Doc(name string) string { return t.Members[name].Doc }

// Is makes a member of a value: it has no options.
func Is[T any](v T) func(Decoder) (T, error) {
	return func(decode Decoder) (T, error) { return v, decode(&struct{}{}) }
}
