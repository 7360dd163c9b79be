package scenario

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"bourse/workloadgen/config"
	"bourse/workloadgen/plugin"
)

// everywhere reports whether the path of an override begins with a field of a
// configuration, not with a field of the file. In that case, it also returns the rest of
// the path and the name of the configuration, or "" for all configurations.
func everywhere(override string) (configuration, path string, ok bool) {
	path, _, _ = strings.Cut(override, "=")
	if name, rest, one := strings.Cut(path, ":"); one {
		return name, rest, name != ""
	}
	first, _, _ := strings.Cut(path, ".")
	return "", path, first != "name" && config.FieldsOf(reflect.TypeFor[Configuration]()).Find(first) != nil
}

// setEach applies an override to all configurations of a tree or, if it names one, to that
// configuration. The configurations must have been merged into their base before.
func setEach(root *config.Node, override string) (*config.Node, []setting, error) {
	only, path, _ := everywhere(override)
	segments, value, err := parsedSet(override, path)
	if err != nil {
		return nil, nil, err
	}
	all := root.Get("configurations")
	if all == nil || all.Kind != config.List {
		return nil, nil, value.At.Fail(path, "found no configuration that supports this setting")
	}
	out := *all
	out.Items = slices.Clone(all.Items)
	if only != "" {
		if _, err := choose(all, only, "configurations", value.At); err != nil {
			return nil, nil, err
		}
	}
	for i, c := range out.Items {
		if only == "" || c.Name() == only {
			if out.Items[i], err = with(c, segments, config.Join("configurations", c.Name()), value); err != nil {
				return nil, nil, err
			}
		}
	}
	under := []string{"base"}
	if only != "" {
		under = []string{"configurations", only}
	}
	return root.Put("configurations", &out), settingsOf(value, append(under, segments...)...), nil
}

// usePolicies makes each configuration use the admission policies with the given labels or
// names, in this order. Policies that exist in the configuration keep their options. Other
// policies are added with their default options. A name that ends in .star is the name of a
// script file. The label of such a policy is the file name.
func usePolicies(root *config.Node, labels []string) *config.Node {
	all := root.Get("configurations")
	if len(labels) == 0 || all == nil || all.Kind != config.List {
		return root
	}
	at := config.Place{Source: "--policy " + plugin.Clip(strings.Join(labels, ","))}
	return root.Put("configurations", each(all, func(c *config.Node) *config.Node {
		some, has := &config.Node{Kind: config.List, At: at}, c.Get("admission")
		for _, label := range labels {
			policy, label := policyOf(label)
			policy.At = at
			if has != nil {
				if i := slices.IndexFunc(has.Items, func(p *config.Node) bool { return p.Name() == label }); i >= 0 {
					policy = has.Items[i]
				}
			}
			some.Items = append(some.Items, policy)
		}
		return c.Put("admission", some)
	}))
}

// policyOf returns the policy named by --policy and the policy's label.
func policyOf(name string) (*config.Node, string) {
	if label, is := strings.CutSuffix(filepath.Base(name), ".star"); is {
		return wrap(config.Text("script")).Put("label", config.Text(label)).Put("file", config.Text(name)), label
	}
	return config.Text(name), name
}

// addScripts adds the policies that are files to each configuration, so that overrides can
// set their options.
func addScripts(root *config.Node, names []string) *config.Node {
	all := root.Get("configurations")
	if all == nil || all.Kind != config.List {
		return root
	}
	return root.Put("configurations", each(all, func(c *config.Node) *config.Node {
		has := c.Get("admission")
		if has == nil || has.Kind != config.List {
			return c
		}
		more := *has
		more.Items = slices.Clone(has.Items)
		for _, name := range names {
			if p, label := policyOf(name); label != name {
				more.Items = append(more.Items, p)
			}
		}
		return c.Put("admission", &more)
	}))
}

// SetName returns the name of an override for use as the position in an error.
func SetName(override string) string { return "--set " + plugin.Clip(override) }

// parsedSet returns the path segments and the value of an override.
func parsedSet(override, path string) ([]string, *config.Node, error) {
	at := config.Place{Source: SetName(override)}
	segments := strings.Split(path, ".")
	_, text, ok := strings.Cut(override, "=")
	if !ok || path == "" || len(segments) > maxPath {
		return nil, nil, at.Fail("", "want PATH=VALUE, such as replications=3 or fleet.hosts=30")
	}
	value, err := read(at.Source, []byte(text))
	var e *config.Error
	if errors.As(err, &e) {
		return nil, nil, at.Fail(path, "%s", e.Problem)
	}
	return segments, moved(value, at), nil
}

// set applies an override, path=value, to a tree. The segments of the path are names of
// fields, and indices, labels or names of elements. The value is YAML. It also returns the
// value and the path. In the returned path, a configuration is identified by its name.
func set(root *config.Node, override string) (*config.Node, []string, *config.Node, error) {
	path, _, _ := strings.Cut(override, "=")
	segments, value, err := parsedSet(override, path)
	if err != nil {
		return nil, nil, nil, err
	}
	out, err := with(root, segments, "", value)
	if err == nil && len(segments) > 1 && segments[0] == "configurations" {
		if _, c := reach(out, segments[:2]); c.Name() != "" {
			segments[1] = c.Name()
		}
	}
	return out, segments, value, err
}

// moved returns a copy of n whose parts all have the given position.
func moved(n *config.Node, at config.Place) *config.Node {
	out := *n
	out.At = at
	out.Keys = slices.Clone(n.Keys)
	for i := range out.Keys {
		out.Keys[i].At = at
	}
	out.Items = make([]*config.Node, len(n.Items))
	for i, item := range n.Items {
		out.Items[i] = moved(item, at)
	}
	return &out
}

// with returns a copy of n in which the value at a path is replaced. It creates missing nodes
// on the path. It converts the bare name of a plug-in to a mapping for the options.
func with(n *config.Node, path []string, above string, value *config.Node) (*config.Node, error) {
	if len(path) == 0 {
		return value, nil
	}
	segment, here := path[0], config.Join(above, path[0])
	switch {
	case segment == "":
		return nil, value.At.Fail(above, "want a path without empty segments")
	case n == nil || n.Kind == config.Null:
		n = &config.Node{Kind: config.Mapping, At: value.At}
	case n.Kind == config.Scalar:
		n = wrap(n)
	case n.Kind == config.List:
		i, err := choose(n, segment, above, value.At)
		if err != nil {
			return nil, err
		}
		out := *n
		out.Items = slices.Clone(n.Items)
		out.Items[i], err = with(n.Items[i], path[1:], here, value)
		return &out, err
	}
	item, err := with(n.Get(segment), path[1:], here, value)
	if err != nil {
		return nil, err
	}
	return n.Put(segment, item), nil
}

// choose returns the index of the element that a segment identifies by index, label or name.
func choose(n *config.Node, segment, path string, at config.Place) (int, error) {
	if i, err := strconv.Atoi(segment); err == nil && i >= 0 && i < len(n.Items) {
		return i, nil
	}
	var names []string
	for i, item := range n.Items {
		if item.Name() == segment {
			return i, nil
		}
		names = append(names, plugin.Clip(item.Name()))
	}
	return 0, at.Fail(path, "no element %s, %s", plugin.Clip(segment), plugin.OneOf(segment, names))
}
