package config

import (
	"fmt"
	"maps"
	"slices"
)

// A Decoder sets the fields of an options struct, given by pointer, and does not change fields
// that the input omits. It rejects unknown fields.
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

// New creates the named member with the options that decode sets; a nil decode keeps the
// defaults. Options that violate their tags are an error.
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

// Again creates the named member with options that New has accepted. It checks neither name
// nor options.
func (t Table[T]) Again(name string, decode Decoder) (T, error) { return t.Members[name].New(decode) }

// Make creates the member that s names.
func (t Table[T]) Make(s Spec) (T, error) { return t.New(s.Name, s.Decode) }

// Names returns the names of the members, sorted.
func (t Table[T]) Names() []string { return slices.Sorted(maps.Keys(t.Members)) }

// Doc returns the one-line description of the named member, or an empty string if it does not
// exist.
func (t Table[T]) Doc(name string) string { return t.Members[name].Doc }

// Is returns the function of a member without options, whose value is v.
func Is[T any](v T) func(Decoder) (T, error) {
	return func(decode Decoder) (T, error) { return v, decode(&struct{}{}) }
}
