package scenario

import "bourse/workloadgen/config"

import "slices"

// merge merges the value over into the value under. It merges mappings key by key. Any
// other value, including a list or null, replaces the value under.
//
// A mapping that names a different plug-in also replaces the value under, because options
// belong to a plug-in. A mapping without a name changes the options of the plug-in under, even
// if that is only a bare name.
func merge(under, over *config.Node) *config.Node {
	if under == nil || over.Kind != config.Mapping {
		return over
	}
	under = named(under, over)
	if under.Kind != config.Mapping || differ(under, over) {
		return over
	}
	return mergeFields(under, over)
}

// mergeFields merges two mappings, even if they name different plug-ins.
func mergeFields(under, over *config.Node) *config.Node {
	switch {
	case over == nil:
		return under
	case over.Kind != config.Mapping || under == nil || under.Kind != config.Mapping:
		return over
	}
	out := &config.Node{Kind: config.Mapping, Keys: slices.Clone(under.Keys), Items: slices.Clone(under.Items), At: over.At}
	index := make(map[string]int, len(out.Keys))
	for i, k := range out.Keys {
		index[k.Name] = i
	}
	for i, k := range over.Keys {
		if j, ok := index[k.Name]; ok {
			out.Keys[j], out.Items[j] = k, merge(out.Items[j], over.Items[i])
			continue
		}
		out.Keys = append(out.Keys, k)
		out.Items = append(out.Items, over.Items[i])
	}
	return out
}

// named converts the name of a plug-in into a mapping, so that options can be added.
func named(n, options *config.Node) *config.Node {
	if n.Kind != config.Scalar || options.Get("name") != nil {
		return n
	}
	return wrap(n)
}

// wrap converts a bare name to a mapping.
func wrap(n *config.Node) *config.Node {
	return (&config.Node{Kind: config.Mapping, At: n.At}).Put("name", n)
}

func differ(a, b *config.Node) bool {
	x, y := a.Get("name"), b.Get("name")
	return x != nil && y != nil && x.Text != y.Text
}

// over merges a file into the preset that the file names. If the file lists configurations,
// only these are run. If a configuration has the name of a configuration in the preset, it
// starts from that one.
func over(preset, file *config.Node) *config.Node {
	out := mergeFields(preset.Without("base", "configurations"), file.Without("base", "configurations"))
	if base := mergeFields(preset.Get("base"), file.Get("base")); base != nil {
		out = out.Put("base", base)
	}
	theirs, ours := preset.Get("configurations"), file.Get("configurations")
	if ours == nil || ours.Kind != config.List {
		ours = theirs
	} else if theirs != nil {
		ours = each(ours, func(c *config.Node) *config.Node {
			for _, p := range theirs.Items {
				if p.Name() == c.Name() {
					return mergeFields(p, c)
				}
			}
			return c
		})
	}
	if ours != nil {
		out = out.Put("configurations", ours)
	}
	return out
}

// expand merges every configuration into the base configuration.
func expand(root *config.Node) *config.Node {
	configurations := root.Get("configurations")
	if configurations == nil {
		return root
	}
	base := root.Get("base")
	return root.Put("configurations", each(configurations, func(c *config.Node) *config.Node {
		return mergeFields(base, c)
	}))
}

// each returns a list with the results of f for the elements of l. A bare name becomes a
// configuration that contains only the name.
func each(l *config.Node, f func(*config.Node) *config.Node) *config.Node {
	out := &config.Node{Kind: config.List, At: l.At}
	for _, c := range l.Items {
		if c.Kind == config.Scalar {
			c = wrap(c)
		}
		out.Items = append(out.Items, f(c))
	}
	return out
}
