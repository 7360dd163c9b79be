package scenario

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// set applies an override, path=value, to a tree. The path's segments are
// fields, and indices, labels or names of elements; the value is YAML. It returns the path and
// the value too; a configuration is called by its name there.
func set(root *node, override string) (*node, []string, *node, error) {
	at := place{source: "--set " + clip(override)}
	path, text, ok := strings.Cut(override, "=")
	segments := strings.Split(path, ".")
	if !ok || path == "" || len(segments) > maxDepth {
		return nil, nil, nil, fail(at, "", "want path=value, such as replications=3 or configurations.low.fleet.hosts=30")
	}
	value, err := read(at.source, []byte(text))
	var e *Error
	if errors.As(err, &e) {
		return nil, nil, nil, fail(at, path, "%s", e.Problem)
	}
	value = value.moved(at)
	out, err := root.with(segments, "", value)
	if err == nil && len(segments) > 1 && segments[0] == "configurations" {
		if _, c := out.reach(segments[:2]); c.called() != "" {
			segments[1] = c.called()
		}
	}
	return out, segments, value, err
}

// moved returns n as if all of it stood at one place.
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

// with returns n with what stands at a path below it replaced. What the path
// passes and is not there comes to be; the bare name of a plug-in makes room
// for options.
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

// choose returns the index of the element that a segment means: an index
// itself, or else a label or name.
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
