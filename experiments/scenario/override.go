package scenario

import (
	"bourse/workloadgen/config"

	"fmt"
	"slices"
	"strings"
)

// An Override is a setting without effect in some configurations, because another setting
// replaces it there.
type Override struct {
	Field          string   `json:"field" doc:"setting, such as base.admission"`
	At             string   `json:"at" doc:"location of the setting: file:line:column, or the flag"`
	Configurations []string `json:"configurations" doc:"configurations in which the setting has no effect; empty for a setting of the whole experiment"`
	By             string   `json:"by" doc:"setting that takes precedence in the first of the configurations"`
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
// some configuration. A file may contain a rule with exceptions. If one setting of a file
// replaces another setting of the same file, the latter is therefore returned only if it has
// no effect in any configuration.
func (e *Experiment) Overrides() []Override { return e.overrides }

// A setting is a value written by a user, with its path.
type setting struct {
	path []string
	n    *config.Node
}

// settingsOf returns the settings in the node n, which is at the given path. A list counts
// as a single value, except for the list of configurations.
func settingsOf(n *config.Node, path ...string) []setting {
	var all []setting
	switch {
	case n == nil:
	case n.Kind == config.Mapping && len(n.Items) > 0:
		for i, k := range n.Keys {
			all = append(all, settingsOf(n.Items[i], append(slices.Clip(path), k.Name)...)...)
		}
	case n.Kind == config.List && len(path) == 1 && path[0] == "configurations":
		for _, c := range n.Items {
			if c.Kind == config.Mapping {
				all = append(all, settingsOf(c, "configurations", c.Name())...)
			}
		}
	default:
		all = append(all, setting{path, n})
	}
	return all
}

// fromFlag reports whether the value comes from the command line.
func fromFlag(n *config.Node) bool { return strings.HasPrefix(n.At.Source, "--") }

// overridden returns the settings that have no effect in some configuration. Their effect
// is visible in root, the resulting tree, and in the points of each configuration in the
// sweep. If a setting replaces a value of a preset but has no effect anywhere, overridden
// returns an error.
func overridden(said []setting, root *config.Node, points [][]*config.Node) ([]Override, error) {
	var found []Override
	for _, s := range said {
		o := Override{Field: strings.Join(s.path, "."), At: s.n.At.String()}
		var by *config.Node
		applies, without := 0, 0
		look := func(points []*config.Node, configuration string, path []string) {
			applies++
			if slices.ContainsFunc(points, s.within) {
				return
			}
			stands, n := reach(points[0], path)
			if n.Equal(s.n) {
				return
			}
			if without++; without == 1 {
				by, o.ByAt = n, n.At.String()
				o.By = strings.Join(slices.Concat(configurationPath(configuration), stands), ".")
				if sweep := root.Get("sweep"); sweep != nil && (setting{stands, n}).within(sweep) {
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
			for i, c := range root.Get("configurations").Items {
				if name == "" || c.Name() == name && !slices.Equal(rest, []string{"name"}) {
					look(points[i], c.Name(), rest)
				}
			}
		case "preset":
		default:
			look([]*config.Node{root.Without("base", "configurations")}, "", s.path)
		}
		same := by != nil && by.At.Source == s.n.At.Source
		switch {
		case without == 0, same && without < applies: // a rule with exceptions is not reported
		case without == applies && !fromFlag(by) && !same:
			return nil, s.n.At.Fail(o.Field, "has no effect, because %s (%s) overrides it; set that field instead", o.By, o.ByAt)
		case !fromFlag(s.n) && slices.ContainsFunc(said, func(t setting) bool { return t.n == by && slices.Equal(t.path, s.path) }): // the user has replaced the value on the command line
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

// within reports whether the setting is part of n. The values of an expanded range in a sweep
// have the position of the range. A list of which an axis varies some elements keeps its
// position.
func (s setting) within(n *config.Node) bool {
	if n == s.n || n.At == s.n.At && (n.Kind == config.List || len(s.path) > 0 && s.path[0] == "sweep") {
		return true
	}
	return slices.ContainsFunc(n.Items, s.within)
}

// reach follows a path below n as far as it exists. It returns the existing part of the
// path and the node at its end.
func reach(n *config.Node, path []string) ([]string, *config.Node) {
	for i, segment := range path {
		next := n.Get(segment)
		if n.Kind == config.List {
			if next = n.Element(segment); next == nil {
				if at := slices.IndexFunc(n.Items, func(item *config.Node) bool { return item.Name() == segment }); at >= 0 {
					next = n.Items[at]
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
