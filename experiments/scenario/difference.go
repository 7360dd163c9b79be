package scenario

import (
	"fmt"
	"slices"
	"strings"

	"bourse/workloadgen/config"
	"bourse/workloadgen/plugin"
)

// A Difference is a field that differs between two files, with both of its values.
type Difference struct{ Field, One, Other string }

// Differ returns the first field in which two experiments differ, or nil if there is none.
// It also compares other values set by [Fill]. It ignores the top-level fields in ignore.
func Differ[T any](one, other *T, ignore ...string) *Difference {
	return firstDifference("", config.Of(*one).Without(ignore...), config.Of(*other).Without(ignore...))
}

func firstDifference(path string, a, b *config.Node) *Difference {
	if a != nil && b != nil && a.Kind == b.Kind && len(a.Items) == len(b.Items) {
		switch a.Kind {
		case config.Mapping:
			for i, k := range a.Keys {
				if d := firstDifference(config.Join(path, k.Name), a.Items[i], b.Get(k.Name)); d != nil {
					return d
				}
			}
			return nil
		case config.List:
			for i := range a.Items {
				at := fmt.Sprintf("%s[%d]", path, i)
				if name := a.Items[i].Name(); name != "" && name == b.Items[i].Name() {
					at = config.Join(path, name)
				}
				if d := firstDifference(at, a.Items[i], b.Items[i]); d != nil {
					return d
				}
			}
			return nil
		}
	}
	x, y := holds(a), holds(b)
	if x != y || a != nil && b != nil && a.Kind == config.Scalar && a.Text != b.Text {
		return &Difference{path, x, y}
	}
	return nil
}

// holds describes the value of a field in a form that is short enough for an error message.
func holds(n *config.Node) string {
	switch {
	case n == nil || n.Kind == config.Null:
		return "nothing"
	case n.Kind == config.Scalar:
		return plugin.Clip(n.Text)
	case n.Kind == config.List:
		return fmt.Sprintf("a list of %d", len(n.Items))
	}
	var names []string
	for _, k := range n.Keys {
		if k.Name != "name" {
			names = append(names, k.Name)
		}
	}
	slices.Sort(names)
	return plugin.Clip(strings.TrimSpace(n.Name() + " {" + strings.Join(names, ", ") + "}"))
}
