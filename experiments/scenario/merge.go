package scenario

import "slices"

// merge merges one value into another. Mappings are merged key by key. Any other value,
// including lists and nulls, replaces the one under it.
//
// A mapping that names another plug-in replaces the one under it, because options belong to a
// plug-in. A mapping without a name changes options of the plug-in under it, even if that is a
// bare name.
func merge(under, over *node) *node {
	if under == nil || over.kind != mapping {
		return over
	}
	under = named(under, over)
	if under.kind != mapping || differ(under, over) {
		return over
	}
	return mergeFields(under, over)
}

// mergeFields merges two mappings, whatever their names.
func mergeFields(under, over *node) *node {
	switch {
	case over == nil:
		return under
	case over.kind != mapping || under == nil || under.kind != mapping:
		return over
	}
	out := &node{kind: mapping, keys: slices.Clone(under.keys), items: slices.Clone(under.items), at: over.at}
	index := make(map[string]int, len(out.keys))
	for i, k := range out.keys {
		index[k.name] = i
	}
	for i, k := range over.keys {
		if j, ok := index[k.name]; ok {
			out.keys[j], out.items[j] = k, merge(out.items[j], over.items[i])
			continue
		}
		out.keys = append(out.keys, k)
		out.items = append(out.items, over.items[i])
	}
	return out
}

// named converts the bare name of a plug-in to a mapping, so that options can be added.
func named(n, options *node) *node {
	if n.kind != scalar || options.get("name") != nil {
		return n
	}
	return wrap(n)
}

// wrap converts a bare name to a mapping.
func wrap(n *node) *node {
	return &node{kind: mapping, keys: []key{{"name", n.at}}, items: []*node{n}, at: n.at}
}

func differ(a, b *node) bool {
	x, y := a.get("name"), b.get("name")
	return x != nil && y != nil && x.text != y.text
}

// over merges a file into the preset that it names. If the file lists configurations, only
// those are run. A configuration with the name of one in the preset starts from it.
func over(preset, file *node) *node {
	out := mergeFields(preset.without("base", "configurations"), file.without("base", "configurations"))
	if base := mergeFields(preset.get("base"), file.get("base")); base != nil {
		out = out.put("base", base)
	}
	theirs, ours := preset.get("configurations"), file.get("configurations")
	if ours == nil || ours.kind != list {
		ours = theirs
	} else if theirs != nil {
		ours = each(ours, func(c *node) *node {
			for _, p := range theirs.items {
				if p.called() == c.called() {
					return mergeFields(p, c)
				}
			}
			return c
		})
	}
	if ours != nil {
		out = out.put("configurations", ours)
	}
	return out
}

// expand merges every configuration into the base.
func expand(root *node) *node {
	configurations := root.get("configurations")
	if configurations == nil {
		return root
	}
	base := root.get("base")
	return root.put("configurations", each(configurations, func(c *node) *node {
		return mergeFields(base, c)
	}))
}

// each returns the list of the results of f for the elements. A bare name becomes a
// configuration with only a name.
func each(l *node, f func(*node) *node) *node {
	out := &node{kind: list, at: l.at}
	for _, c := range l.items {
		if c.kind == scalar {
			c = wrap(c)
		}
		out.items = append(out.items, f(c))
	}
	return out
}
