package scenario

import (
	"fmt"
	"reflect"
	"slices"

	"bourse/workloadgen/config"
)

// A Difference is a field in which two files differ, with both values.
type Difference struct{ Field, One, Other string }

// Differ returns the first field in which two experiments, or other values set by [Fill],
// differ, or nil if there is none. It ignores the top-level fields in ignore.
func Differ[T any](one, other *T, ignore ...string) *Difference {
	return firstDifference("", encode(reflect.ValueOf(*one)).without(ignore...), encode(reflect.ValueOf(*other)).without(ignore...))
}

func firstDifference(path string, a, b *node) *Difference {
	if a != nil && b != nil && a.kind == b.kind && len(a.items) == len(b.items) {
		switch a.kind {
		case mapping:
			for i, k := range a.keys {
				if d := firstDifference(config.Join(path, k.name), a.items[i], b.get(k.name)); d != nil {
					return d
				}
			}
			return nil
		case list:
			for i := range a.items {
				at := fmt.Sprintf("%s[%d]", path, i)
				if name := a.items[i].called(); name != "" && name == b.items[i].called() {
					at = config.Join(path, name)
				}
				if d := firstDifference(at, a.items[i], b.items[i]); d != nil {
					return d
				}
			}
			return nil
		}
	}
	x, y := holds(a), holds(b)
	if x != y || a != nil && b != nil && a.kind == scalar && a.text != b.text {
		return &Difference{path, x, y}
	}
	return nil
}

// holds describes the value of a field briefly enough for an error message.
func holds(n *node) string {
	switch {
	case n == nil || n.kind == null:
		return "nothing"
	case n.kind == scalar:
		return config.Clip(n.text)
	case n.kind == list:
		return fmt.Sprintf("a list of %d", len(n.items))
	}
	names := make([]string, len(n.keys))
	for i, k := range n.keys {
		names[i] = k.name
	}
	slices.Sort(names)
	return config.Clip(fmt.Sprint(names))
}
