package scenario

import (
	"fmt"
	"slices"
	"strconv"
)

// A node is one value of a file: a scalar as written, a list or a mapping. Trees are
// immutable, so they may share nodes.
type node struct {
	kind   kind
	text   string  // of a scalar
	quoted bool    // a scalar that is always text
	keys   []key   // of a mapping, in the order of the file
	fields bool    // a mapping with the keys of a struct, in their order
	items  []*node // elements of a list, or values of a mapping's keys
	at     place
}

type kind uint8

const (
	null kind = iota
	scalar
	list
	mapping
)

// A key of a mapping.
type key struct {
	name string
	at   place
}

// A place is a position in a source. Line 0 means the whole source, such as a command-line
// override, which has no lines.
type place struct {
	source       string
	line, column int
}

func (p place) String() string {
	if p.line == 0 {
		return p.source
	}
	return fmt.Sprintf("%s:%d:%d", p.source, p.line, p.column)
}

// get returns the value of a key, or nil if n is not a mapping or lacks the key.
func (n *node) get(name string) *node {
	if n == nil || n.kind != mapping {
		return nil
	}
	if i := n.index(name); i >= 0 {
		return n.items[i]
	}
	return nil
}

func (n *node) index(name string) int {
	return slices.IndexFunc(n.keys, func(k key) bool { return k.name == name })
}

// put returns n with the value of one key replaced or added.
func (n *node) put(name string, v *node) *node {
	out := *n
	if i := n.index(name); i >= 0 {
		out.items = slices.Clone(n.items)
		out.items[i] = v
		return &out
	}
	out.keys = append(slices.Clip(n.keys), key{name, v.at})
	out.items = append(slices.Clip(n.items), v)
	return &out
}

// without returns n without the given keys.
func (n *node) without(names ...string) *node {
	out := &node{kind: mapping, at: n.at}
	for i, k := range n.keys {
		if !slices.Contains(names, k.name) {
			out.keys = append(out.keys, k)
			out.items = append(out.items, n.items[i])
		}
	}
	return out
}

// called returns the name of a list element: its label, its name, or its text if it is a
// scalar.
func (n *node) called() string {
	if n.kind == scalar {
		return n.text
	}
	if l := n.get("label"); l != nil {
		return l.text
	}
	if l := n.get("name"); l != nil {
		return l.text
	}
	return ""
}

// segment returns the path segment of an element: its name if it is a mapping with a valid
// one, or else its index.
func (n *node) segment(index string) string {
	if n != nil && n.kind == mapping && point.MatchString(n.called()) {
		return n.called()
	}
	return index
}

// element returns the element of a list at an index, or nil if there is none.
func (n *node) element(index string) *node {
	i, err := strconv.Atoi(index)
	if err != nil || n.kind != list || i < 0 || i >= len(n.items) {
		return nil
	}
	return n.items[i]
}

// equal reports whether two values are equal, ignoring the order of keys.
func (n *node) equal(m *node) bool {
	if n == nil || m == nil {
		return n == m
	}
	if n.kind != m.kind || n.text != m.text || n.quoted != m.quoted || len(n.items) != len(m.items) {
		return false
	}
	for i, item := range n.items {
		other := m.items[i]
		if n.kind == mapping {
			other = m.get(n.keys[i].name)
		}
		if other == nil || !item.equal(other) {
			return false
		}
	}
	return true
}

// found describes n for messages.
func (n *node) found() string {
	switch n.kind {
	case null:
		return "nothing"
	case list:
		return "a list"
	case mapping:
		return "a mapping"
	}
	if n.quoted {
		return fmt.Sprintf("%q", clip(n.text))
	}
	return clip(n.text)
}

// clip shortens text to fit into one line of a message.
func clip(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
