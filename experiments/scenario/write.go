package scenario

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"

	"bourse/workloadgen/config"
)

// Write prints an experiment as a complete scenario file that contains every field. It
// describes each field at its first occurrence. Parsing the file results in the same
// experiment.
func Write(w io.Writer, e Experiment) error {
	if _, err := w.Write(File(e).YAML()); err != nil {
		return fmt.Errorf("write scenario %s: %w", e.Name, err)
	}
	return nil
}

// File returns the tree of the file that [Write] prints. Values shared by all
// configurations are in base.
func File(e Experiment) *config.Node {
	root := config.Of(e)
	configurations := root.Get("configurations")
	if base := common(configurations.Items); base != nil {
		rest := each(configurations, func(c *config.Node) *config.Node { return less(c, base) })
		root = root.Without("configurations")
		for i, v := range []*config.Node{base, rest} {
			f := config.FieldsOf(reflect.TypeFor[file]()).Find([]string{"base", "configurations"}[i])
			root = root.PutKey(config.Key{Name: f.Name, Doc: f.Doc}, v)
		}
	}
	return root
}

// common returns the values that all configurations have in common, except the names. It
// returns nil if there are none.
func common(configurations []*config.Node) *config.Node {
	var base *config.Node
	for i, c := range configurations {
		c = c.Without("name")
		if i == 0 {
			base = c
			continue
		}
		base = both(base, c)
	}
	return base
}

// both returns the values that a and b have in common, or nil if there are none. Choices of
// different plug-ins have no values in common. Lists are in common only if they are equal.
func both(a, b *config.Node) *config.Node {
	if a.Equal(b) {
		return a
	}
	if a == nil || b == nil || a.Kind != config.Mapping || b.Kind != config.Mapping || differ(a, b) {
		return nil
	}
	out := &config.Node{Kind: config.Mapping}
	for i, k := range a.Keys {
		if shared := both(a.Items[i], b.Get(k.Name)); shared != nil {
			out = out.PutKey(k, shared)
		}
	}
	if len(out.Keys) == 0 {
		return nil
	}
	return out
}

// less returns the part of n that differs from base. If this part is merged into base, the
// result is n. Options are in the order of the merged result, in which the options of base
// come first.
func less(n, base *config.Node) *config.Node {
	keys := slices.Clone(n.Keys)
	if n.Keys[0].Doc == "" { // the keys are options, not fields of a struct
		slices.SortStableFunc(keys, func(a, b config.Key) int {
			return cmp.Compare(uint(base.Index(a.Name)), uint(base.Index(b.Name))) // -1 sorts last
		})
	}
	out := &config.Node{Kind: config.Mapping}
	for _, k := range keys {
		item, under := n.Get(k.Name), base.Get(k.Name)
		switch {
		case under == nil:
			out = out.PutKey(k, item)
		case !item.Equal(under):
			out = out.PutKey(k, less(item, under))
		}
	}
	return out
}
