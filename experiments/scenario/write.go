package scenario

import (
	"bourse/workloadgen/config"
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/goccy/go-yaml"
)

// Write prints an experiment as a complete scenario file with every field, described where it
// first appears. Values that all configurations share are in base. Parsing the file gives the
// same experiment.
func Write(w io.Writer, e Experiment) error {
	root := encode(reflect.ValueOf(e))
	configurations := root.get("configurations")
	if base := common(configurations.items); base != nil {
		rest := each(configurations, func(c *node) *node { return less(c, base) })
		root = root.without("configurations").put("base", base).put("configurations", rest)
	}
	comments := yaml.CommentMap{}
	annotate(comments, map[string]bool{}, root, reflect.TypeFor[file](), "$")
	out, err := yaml.MarshalWithOptions(root.yaml(), yaml.WithComment(comments), yaml.IndentSequence(true))
	if err == nil {
		_, err = w.Write(out)
	}
	if err != nil {
		return fmt.Errorf("write scenario %s: %w", e.Name, err)
	}
	return nil
}

// common returns the values that all configurations share, except their names, or nil if there
// are none.
func common(configurations []*node) *node {
	var base *node
	for i, c := range configurations {
		c = c.without("name")
		if i == 0 {
			base = c
			continue
		}
		base = both(base, c)
	}
	return base
}

// both returns the values that a and b share, or nil if there are none. Choices of different
// plug-ins share nothing, and lists are shared only if they are equal.
func both(a, b *node) *node {
	if a.equal(b) {
		return a
	}
	if a == nil || b == nil || a.kind != mapping || b.kind != mapping || differ(a, b) {
		return nil
	}
	out := &node{kind: mapping}
	for i, k := range a.keys {
		if shared := both(a.items[i], b.get(k.name)); shared != nil {
			out = out.put(k.name, shared)
		}
	}
	if len(out.keys) == 0 {
		return nil
	}
	return out
}

// less returns the part of n that differs from base. Merging it into base gives n again.
// Options are in the resulting order, with those of base first.
func less(n, base *node) *node {
	keys := slices.Clone(n.keys)
	if !n.fields {
		slices.SortStableFunc(keys, func(a, b key) int {
			return cmp.Compare(uint(base.index(a.name)), uint(base.index(b.name))) // -1 sorts last
		})
	}
	out := &node{kind: mapping}
	for _, k := range keys {
		item, under := n.get(k.name), base.get(k.name)
		switch {
		case under == nil:
			out = out.put(k.name, item)
		case !item.equal(under):
			out = out.put(k.name, less(item, under))
		}
	}
	return out
}

// annotate collects the descriptions of fields, each where it first appears.
func annotate(into yaml.CommentMap, seen map[string]bool, n *node, t reflect.Type, path string) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case n == nil || t == reflect.TypeFor[Choice]():
	case t.Kind() == reflect.Slice && n.kind == list:
		for i, item := range n.items {
			annotate(into, seen, item, t.Elem(), fmt.Sprintf("%s[%d]", path, i))
		}
	case t.Kind() == reflect.Struct && n.kind == mapping:
		for _, f := range config.FieldsOf(t) {
			item, here := n.get(f.Name), path+"."+f.Name
			if item == nil {
				continue
			}
			if id := t.Name() + "." + f.Name; f.Doc != "" && !seen[id] {
				seen[id] = true
				into[here] = []*yaml.Comment{comment(item, f)}
			}
			annotate(into, seen, item, f.Type, here)
		}
	}
}

// comment puts a description after a scalar, and above any other value.
func comment(n *node, f config.Field) *yaml.Comment {
	if n.kind == mapping || n.kind == list {
		return yaml.HeadComment(" " + f.Doc)
	}
	return yaml.LineComment(" " + f.Doc)
}
