// Package config reads, checks and writes configuration: scenarios, plans, claims, readings,
// market files and the options of plug-ins.
//
// A file becomes a tree of [Node], each with its position. The tree is decoded into a struct.
// Tags of the struct name the fields, restrict their values and describe them:
//
//	type Fleet struct {
//		Hosts int     `yaml:"hosts" validate:"min=1" doc:"number of hosts"`
//		Hold  float64 `yaml:"hold" validate:"min=0" doc:"time between polls, s"`
//	}
//
//	fleet := Fleet{Hosts: 15, Hold: 60} // the defaults
//	err := config.Read("fleet.yaml", []byte("hosts: 0\nhold: 2h\n"), &fleet)
//	// fleet.yaml:1:8: hosts: found 0, want a whole number at least 1 (number of hosts)
//
// [Read] is strict. Unknown fields, repeated keys, wrong types and numbers that are not finite
// are errors; an [Error] contains the position, the field, the value found and the values
// wanted. Fields that the file omits keep their values.
//
// A [Spec] contains the name and the options of a plug-in as written in a file. [Spec.Decode]
// sets and checks the options. Package plugin contains the tables of plug-ins; [Options] lists
// the options of a plug-in.
//
// The package is independent of the meaning of fields and families. The only other package of
// the module that it imports is plugin. Any package may import it, including the base packages,
// which do not import each other. The layer test calls it a leaf.
//
// # YAML
//
// YAML has two versions and many readers, which differ: some read 017 as 15 and others as 17,
// and some read yes as true and others as a word. [Parse] accepts only YAML that all parsers
// read in the same way: one document, indented with spaces, without anchors, aliases, tags,
// merge keys and directives. [Node.Unclear] finds words that YAML 1.1 and 1.2 interpret
// differently, for example as a boolean and as text. Tests compare with two more readers.
package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bourse/workloadgen/plugin"
)

// A Node is one value of a file, or of a value in a program. Trees are immutable, so they may
// share nodes. The methods that look up a value accept a nil Node, which contains no values.
type Node struct {
	Kind   Kind
	Text   string  // text of a scalar, as written
	Quoted bool    // a scalar that is always text
	Keys   []Key   // keys of a mapping, in the order of the file
	Items  []*Node // elements of a list, or values of a mapping's keys
	At     Place
}

// A Kind is the kind of a Node.
type Kind uint8

// The kinds of nodes.
const (
	Null Kind = iota
	Scalar
	List
	Mapping
)

// A Key is a key of a mapping.
type Key struct {
	Name   string
	Quoted bool
	Doc    string // description of the field that the key names, if it is one of a struct
	At     Place
}

// A Place is a position in a source. Line 0 means the whole source, such as a command-line
// override, which has no lines.
type Place struct {
	Source       string // name of a file; may be empty
	Line, Column int    // from 1
}

// String returns source:line:column, as far as these are known.
func (p Place) String() string {
	switch {
	case p.Line == 0:
		return p.Source
	case p.Source == "":
		return fmt.Sprintf("%d:%d", p.Line, p.Column)
	}
	return fmt.Sprintf("%s:%d:%d", p.Source, p.Line, p.Column)
}

// An Error is a mistake in a file, an override or options.
type Error struct {
	At      Place
	Field   string // path, such as configurations.low.fleet.hosts; empty for the file as a whole
	Problem string // the value found and the values wanted
}

// Error returns position, field and problem, as far as these are known.
func (e *Error) Error() string {
	text := e.Problem
	if e.Field != "" {
		text = e.Field + ": " + text
	}
	if at := e.At.String(); at != "" {
		text = at + ": " + text
	}
	return text
}

// Placed reports whether the position of e is known.
func (e *Error) Placed() bool { return e.At != (Place{}) }

// Fail returns an [Error] at p.
func (p Place) Fail(field, format string, args ...any) error {
	return &Error{At: p, Field: field, Problem: fmt.Sprintf(format, args...)}
}

// Blame adds the position p and the field to an error that has neither. The position p must
// be known.
func (p Place) Blame(field string, err error) error {
	var e *Error
	switch {
	case err == nil || p == (Place{}):
		return err
	case errors.As(err, &e) && e.Placed():
		return e
	}
	return p.Fail(field, "%v", err)
}

// Text returns a scalar that is text.
func Text(s string) *Node { return &Node{Kind: Scalar, Text: s, Quoted: true} }

// Get returns the value of a key, or nil if n is not a mapping or lacks the key.
func (n *Node) Get(name string) *Node {
	if i := n.Index(name); i >= 0 {
		return n.Items[i]
	}
	return nil
}

// Index returns the index of a key, or -1.
func (n *Node) Index(name string) int {
	if n == nil || n.Kind != Mapping {
		return -1
	}
	return slices.IndexFunc(n.Keys, func(k Key) bool { return k.Name == name })
}

// Element returns the element of a list at an index, or nil if there is none.
func (n *Node) Element(index string) *Node {
	i, err := strconv.Atoi(index)
	if err != nil || n.Kind != List || i < 0 || i >= len(n.Items) {
		return nil
	}
	return n.Items[i]
}

// Put returns n with the value of one key replaced or added.
func (n *Node) Put(name string, v *Node) *Node { return n.PutKey(Key{Name: name, At: v.At}, v) }

// PutKey is like Put, but the key can have a description.
func (n *Node) PutKey(k Key, v *Node) *Node {
	out := *n
	if i := n.Index(k.Name); i >= 0 {
		out.Items = slices.Clone(n.Items)
		out.Items[i] = v
		return &out
	}
	out.Keys = append(slices.Clip(n.Keys), k)
	out.Items = append(slices.Clip(n.Items), v)
	return &out
}

// Without returns n without the given keys.
func (n *Node) Without(names ...string) *Node {
	out := &Node{Kind: Mapping, At: n.At}
	for i, k := range n.Keys {
		if !slices.Contains(names, k.Name) {
			out.Keys = append(out.Keys, k)
			out.Items = append(out.Items, n.Items[i])
		}
	}
	return out
}

// Name returns the name of a list element: its label, its name, or its text if it is a scalar.
func (n *Node) Name() string {
	if n.Kind == Scalar {
		return n.Text
	}
	for _, key := range []string{"label", "name"} {
		if name := n.Get(key); name != nil {
			return name.Text
		}
	}
	return ""
}

// Segment returns the segment of an element in a path: its name if it is a mapping with a
// valid one, or else its index.
func (n *Node) Segment(index int) string {
	if n != nil && n.Kind == Mapping && point.MatchString(n.Name()) {
		return n.Name()
	}
	return strconv.Itoa(index)
}

// Follow follows a path, such as factors.0.name, as far as it exists. It returns the part followed
// (field), up to and including the first missing segment, with elements by name. It also returns
// the last value found (last), and reports whether no segment is missing (found).
func (n *Node) Follow(path string) (field string, last *Node, found bool) {
	for segment := range strings.SplitSeq(path, ".") {
		next := n.Get(segment)
		if n.Kind == List {
			if next = n.Element(segment); next != nil {
				i, _ := strconv.Atoi(segment)
				segment = next.Segment(i)
			}
		}
		if field = Join(field, segment); next == nil {
			return field, n, false
		}
		n = next
	}
	return field, n, true
}

// Equal reports whether two values are equal, ignoring the order of keys.
func (n *Node) Equal(m *Node) bool {
	if n == nil || m == nil {
		return n == m
	}
	if n.Kind != m.Kind || n.Text != m.Text || n.Quoted != m.Quoted || len(n.Items) != len(m.Items) {
		return false
	}
	for i, item := range n.Items {
		other := m.Items[i]
		if n.Kind == Mapping {
			other = m.Get(n.Keys[i].Name)
		}
		if other == nil || !item.Equal(other) {
			return false
		}
	}
	return true
}

// Found describes n for messages.
func (n *Node) Found() string {
	switch {
	case n == nil || n.Kind == Null:
		return "nothing"
	case n.Kind == List:
		return "a list"
	case n.Kind == Mapping:
		return "a mapping"
	case n.Quoted:
		return strconv.Quote(plugin.Clip(n.Text))
	}
	return plugin.Clip(n.Text)
}

// Join appends a segment to a path.
func Join(path, segment string) string {
	if path == "" || segment == "" {
		return path + segment
	}
	return path + "." + segment
}
