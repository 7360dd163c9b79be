package scenario

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"bourse/workloadgen/config"
)

// everywhere reports whether an override begins with a field of a configuration, not of the
// file. If so, it returns the name of the configuration, or "" for all, and the path.
func everywhere(override string) (configuration, path string, ok bool) {
	path, _, _ = strings.Cut(override, "=")
	if name, rest, one := strings.Cut(path, ":"); one {
		return name, rest, name != ""
	}
	first, _, _ := strings.Cut(path, ".")
	return "", path, first != "name" && config.FieldsOf(reflect.TypeFor[Configuration]()).Find(first) != nil
}

// setEach applies an override to all configurations of a tree, or to the one that it names.
// The configurations must have been merged into their base.
func setEach(root *node, override string) (*node, []setting, error) {
	only, path, _ := everywhere(override)
	segments, value, err := parsedSet(override, path)
	if err != nil {
		return nil, nil, err
	}
	all := root.get("configurations")
	if all == nil || all.kind != list {
		return nil, nil, fail(value.at, path, "found no configuration that supports it")
	}
	out := *all
	out.items = slices.Clone(all.items)
	if only != "" {
		if _, err := all.choose(only, "configurations", value.at); err != nil {
			return nil, nil, err
		}
	}
	for i, c := range out.items {
		if only == "" || c.called() == only {
			if out.items[i], err = c.with(segments, join("configurations", c.called()), value); err != nil {
				return nil, nil, err
			}
		}
	}
	under := []string{"base"}
	if only != "" {
		under = []string{"configurations", only}
	}
	return root.put("configurations", &out), settingsOf(value, append(under, segments...)...), nil
}

// usePolicies makes each configuration use the admission policies with the given labels or
// names, in this order. Existing policies keep their options; others are added with their
// defaults.
func usePolicies(root *node, labels []string) *node {
	all := root.get("configurations")
	if len(labels) == 0 || all == nil || all.kind != list {
		return root
	}
	at := place{source: "--policy " + clip(strings.Join(labels, ","))}
	return root.put("configurations", each(all, func(c *node) *node {
		some, has := &node{kind: list, at: at}, c.get("admission")
		for _, label := range labels {
			policy := text(label)
			policy.at = at
			if has != nil {
				if i := slices.IndexFunc(has.items, func(p *node) bool { return p.called() == label }); i >= 0 {
					policy = has.items[i]
				}
			}
			some.items = append(some.items, policy)
		}
		return c.put("admission", some)
	}))
}

// parsedSet returns the segments of the path of an override, and its value.
func parsedSet(override, path string) ([]string, *node, error) {
	at := place{source: "--set " + clip(override)}
	segments := strings.Split(path, ".")
	_, text, ok := strings.Cut(override, "=")
	if !ok || path == "" || len(segments) > maxDepth {
		return nil, nil, fail(at, "", "want path=value, such as replications=3 or fleet.hosts=30")
	}
	value, err := read(at.source, []byte(text))
	var e *Error
	if errors.As(err, &e) {
		return nil, nil, fail(at, path, "%s", e.Problem)
	}
	return segments, value.moved(at), nil
}

// set applies an override, path=value, to a tree. The segments of the path are fields, and
// indices, labels or names of elements; the value is YAML. It also returns the path, with a
// configuration identified by name, and the value.
func set(root *node, override string) (*node, []string, *node, error) {
	path, _, _ := strings.Cut(override, "=")
	segments, value, err := parsedSet(override, path)
	if err != nil {
		return nil, nil, nil, err
	}
	out, err := root.with(segments, "", value)
	if err == nil && len(segments) > 1 && segments[0] == "configurations" {
		if _, c := out.reach(segments[:2]); c.called() != "" {
			segments[1] = c.called()
		}
	}
	return out, segments, value, err
}

// moved returns n with the given place for all its parts.
func (n *node) moved(at place) *node {
	out := *n
	out.at = at
	out.keys = make([]key, len(n.keys))
	for i, k := range n.keys {
		out.keys[i] = key{k.name, at}
	}
	out.items = make([]*node, len(n.items))
	for i, item := range n.items {
		out.items[i] = item.moved(at)
	}
	return &out
}

// with returns n with the value at a path replaced. It creates missing nodes on the path, and
// converts the bare name of a plug-in to a mapping for options.
func (n *node) with(path []string, above string, value *node) (*node, error) {
	if len(path) == 0 {
		return value, nil
	}
	segment, here := path[0], join(above, path[0])
	switch {
	case segment == "":
		return nil, fail(value.at, above, "want no empty segment in a path")
	case n == nil || n.kind == null:
		n = &node{kind: mapping, at: value.at}
	case n.kind == scalar:
		n = wrap(n)
	case n.kind == list:
		i, err := n.choose(segment, above, value.at)
		if err != nil {
			return nil, err
		}
		out := *n
		out.items = slices.Clone(n.items)
		out.items[i], err = n.items[i].with(path[1:], here, value)
		return &out, err
	}
	item, err := n.get(segment).with(path[1:], here, value)
	if err != nil {
		return nil, err
	}
	return n.put(segment, item), nil
}

// choose returns the index of the element that a segment identifies by index, label or name.
func (n *node) choose(segment, path string, at place) (int, error) {
	if i, err := strconv.Atoi(segment); err == nil && i >= 0 && i < len(n.items) {
		return i, nil
	}
	var names []string
	for i, item := range n.items {
		if item.called() == segment {
			return i, nil
		}
		names = append(names, clip(item.called()))
	}
	return 0, fail(at, path, "no element %s, %s", clip(segment), OneOf(segment, names))
}
