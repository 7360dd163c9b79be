package scenario

import (
	"fmt"
	"slices"
	"strings"
)

// An Override is a setting that has no effect in some configurations, because another setting
// replaces it there.
type Override struct {
	Field          string   `json:"field" doc:"setting, such as base.admission"`
	At             string   `json:"at" doc:"location of the setting: file:line:column, or the flag"`
	Configurations []string `json:"configurations" doc:"configurations in which it has no effect; empty for a setting of the whole experiment"`
	By             string   `json:"by" doc:"setting that overrides it in the first of these configurations"`
	ByAt           string   `json:"by_at" doc:"location of the overriding setting"`
}

// String describes o in one line.
func (o Override) String() string {
	in := ""
	if n := len(o.Configurations); n > 0 {
		const most = 3
		in = " in " + strings.Join(o.Configurations[:min(n, most)], ", ")
		if n > most {
			in += fmt.Sprintf(" and %d more", n-most)
		}
	}
	return fmt.Sprintf("%s: %s has no effect%s: %s (%s) overrides it", o.At, o.Field, in, o.By, o.ByAt)
}

// Overrides returns the settings in the file and on the command line that have no effect in
// some configuration. A file may set a rule and its exceptions, so of settings that a setting
// in the same file replaces, it returns only those without effect in every configuration.
func (e *Experiment) Overrides() []Override { return e.overrides }

// A setting is a value that a user wrote, with its path.
type setting struct {
	path []string
	n    *node
}

// settingsOf returns the values in n, whose path is given. A list counts as one value, except
// for the list of configurations.
func settingsOf(n *node, path ...string) []setting {
	var all []setting
	switch {
	case n == nil:
	case n.kind == mapping && len(n.items) > 0:
		for i, k := range n.keys {
			all = append(all, settingsOf(n.items[i], append(slices.Clip(path), k.name)...)...)
		}
	case n.kind == list && len(path) == 1 && path[0] == "configurations":
		for _, c := range n.items {
			if c.kind == mapping {
				all = append(all, settingsOf(c, "configurations", c.called())...)
			}
		}
	default:
		all = append(all, setting{path, n})
	}
	return all
}

// flag reports whether a setting was made on the command line.
func (p place) flag() bool { return strings.HasPrefix(p.source, "--") }

// overridden returns the settings that have no effect. Root is the resulting tree, and points
// has the points of each configuration in the sweep. A setting that overrides a preset and has
// no effect anywhere is an error.
func overridden(said []setting, root *node, points [][]*node) ([]Override, error) {
	var found []Override
	for _, s := range said {
		o := Override{Field: strings.Join(s.path, "."), At: s.n.at.String()}
		var by *node
		applies, without := 0, 0
		look := func(points []*node, configuration string, path []string) {
			applies++
			if slices.ContainsFunc(points, s.within) {
				return
			}
			stands, n := points[0].reach(path)
			if n.equal(s.n) {
				return
			}
			if without++; without == 1 {
				by, o.ByAt = n, n.at.String()
				o.By = strings.Join(slices.Concat(configurationPath(configuration), stands), ".")
				if sweep := root.get("sweep"); sweep != nil && (setting{stands, n}).within(sweep) {
					o.By = "sweep"
				}
			}
			if configuration != "" {
				o.Configurations = append(o.Configurations, configuration)
			}
		}
		switch rest := s.path[1:]; s.path[0] {
		case "base", "configurations":
			name := ""
			if s.path[0] == "configurations" {
				name, rest = rest[0], rest[1:]
			}
			for i, c := range root.get("configurations").items {
				if name == "" || c.called() == name && !slices.Equal(rest, []string{"name"}) {
					look(points[i], c.called(), rest)
				}
			}
		case "preset":
		default:
			look([]*node{root.without("base", "configurations")}, "", s.path)
		}
		same := by != nil && by.at.source == s.n.at.source
		switch {
		case without == 0, same && without < applies: // a rule and its exceptions
		case without == applies && !by.at.flag() && !same:
			return nil, fail(s.n.at, o.Field, "has no effect: %s (%s) overrides it; set that", o.By, o.ByAt)
		case !s.n.at.flag() && slices.ContainsFunc(said, func(t setting) bool { return t.n == by && slices.Equal(t.path, s.path) }): // replaced on request
		default:
			found = append(found, o)
		}
	}
	return found, nil
}

// configurationPath returns the path of a configuration, or nil for the whole experiment.
func configurationPath(name string) []string {
	if name == "" {
		return nil
	}
	return []string{"configurations", name}
}

// within reports whether the setting is part of n. Expanded ranges of a sweep keep their
// original place.
func (s setting) within(n *node) bool {
	if n == s.n || len(s.path) > 0 && s.path[0] == "sweep" && n.at == s.n.at {
		return true
	}
	return slices.ContainsFunc(n.items, s.within)
}

// reach follows a path below n as far as possible, and returns the part followed and the node
// there.
func (n *node) reach(path []string) ([]string, *node) {
	for i, segment := range path {
		next := n.get(segment)
		if n.kind == list {
			if next = n.element(segment); next == nil {
				if at := slices.IndexFunc(n.items, func(item *node) bool { return item.called() == segment }); at >= 0 {
					next = n.items[at]
				}
			}
		}
		if next == nil {
			return path[:i], n
		}
		n = next
	}
	return path, n
}
