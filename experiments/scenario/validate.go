package scenario

import (
	"errors"
	"reflect"
	"strconv"
	"strings"

	"bourse/workloadgen/config"
)

// validate checks the validate tags of v, a pointer to a value decoded from root at path. Only
// structs have such tags. It finds the place of an error by following its path through the
// tree.
func validate(v any, root *node, path string) error {
	if reflect.TypeOf(v).Elem().Kind() != reflect.Struct {
		return nil
	}
	var wrong *config.Wrong
	if !errors.As(config.Check(v), &wrong) {
		return nil
	}
	n := root
	for _, segment := range strings.Split(wrong.Field, ".") {
		next := n.get(segment)
		if _, err := strconv.Atoi(segment); err == nil && n.kind == list {
			next = n.element(segment)
			segment = next.segment(segment)
		}
		path = join(path, segment)
		if next == nil {
			return fail(n.at, path, "missing, want %s", wrong.Want)
		}
		n = next
	}
	switch {
	case n.kind == list && len(n.items) == 0:
		return fail(n.at, path, "found an empty list, want %s", wrong.Want)
	case wrong.OneOf != nil:
		return fail(n.at, path, "found %s, %s", n.found(), OneOf(n.text, wrong.OneOf))
	}
	return fail(n.at, path, "found %s, want %s", n.found(), wrong.Want)
}
