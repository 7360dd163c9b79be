package experiments

import (
	"slices"
	"strings"
)

// A branch is a part of a scenario file: a scalar, a mapping or a list. A failing scenario is
// shrunk by removing branches.
type branch struct {
	name string // name of a field; empty in a list
	text string // text of a scalar
	in   []*branch
	list bool
	keep bool // whether the scenario is invalid without it
}

func leaf(name, text string) *branch          { return &branch{name: name, text: text} }
func fork(name string, in ...*branch) *branch { return &branch{name: name, in: in} }

// add appends a branch unless it is nil.
func (b *branch) add(in ...*branch) *branch {
	for _, x := range in {
		if x != nil {
			b.in = append(b.in, x)
		}
	}
	return b
}

// get returns the value in b at a path, or nil.
func (b *branch) get(path ...string) *branch {
	for _, name := range path {
		i := -1
		if b != nil {
			i = slices.IndexFunc(b.in, func(x *branch) bool { return x.name == name })
		}
		if i < 0 {
			return nil
		}
		b = b.in[i]
	}
	return b
}

// clone returns a deep copy of b.
func (b *branch) clone() *branch {
	c := *b
	c.in = slices.Clone(b.in)
	for i, x := range c.in {
		c.in[i] = x.clone()
	}
	return &c
}

// block formats b as lines of YAML.
func (b *branch) block(out *strings.Builder, indent string) {
	for _, x := range b.in {
		switch {
		case x.list:
			out.WriteString(indent + x.name + ":\n")
			for _, item := range x.in {
				out.WriteString(indent + "  - " + item.flow() + "\n")
			}
		case x.in != nil && x.name != "annotate" && indent != "":
			out.WriteString(indent + x.name + ": " + x.flow() + "\n")
		case x.in != nil:
			out.WriteString(indent + x.name + ":\n")
			x.block(out, indent+"  ")
		default:
			out.WriteString(indent + x.name + ": " + x.text + "\n")
		}
	}
}

// flow formats b as YAML on one line.
func (b *branch) flow() string {
	if b.in == nil {
		return b.text
	}
	parts := make([]string, len(b.in))
	for i, x := range b.in {
		parts[i] = x.flow()
		if x.name != "" {
			parts[i] = x.name + ": " + parts[i]
		}
	}
	if b.list {
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
