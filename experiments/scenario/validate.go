package scenario

import (
	"errors"
	"reflect"
	"strings"

	"github.com/go-playground/validator/v10"
)

// validate checks the validate tags of v, a pointer to what was decoded from
// root at path. What is no struct has none.
func validate(v any, root *node, path string) error {
	if reflect.TypeOf(v).Elem().Kind() != reflect.Struct {
		return nil
	}
	check := validator.New(validator.WithRequiredStructEnabled())
	check.RegisterTagNameFunc(func(f reflect.StructField) string {
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			return inline
		case name == "":
			return strings.ToLower(f.Name)
		}
		return name
	})
	var wrong validator.ValidationErrors
	if err := check.Struct(v); err == nil {
		return nil
	} else if !errors.As(err, &wrong) {
		return err
	}
	return explain(wrong[0], reflect.TypeOf(v).Elem(), root, path)
}

// inline stands in the validator's paths for what is embedded.
const inline = "(inline)"

// explain turns the validator's complaint into ours: it follows the path
// through the types, for what is wanted, and through the tree, for the place.
func explain(wrong validator.FieldError, t reflect.Type, root *node, path string) error {
	steps := wrong.Namespace()
	if t.Name() != "" {
		steps = strings.TrimPrefix(steps, t.Name()+".")
	}
	n, rule, doc := root, "", ""
	for _, segment := range strings.Split(strings.ReplaceAll(steps, "[", ".["), ".") {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if segment == inline {
			continue
		}
		var next *node
		if index, ok := strings.CutPrefix(segment, "["); ok {
			next = n.element(strings.TrimSuffix(index, "]"))
			segment = next.segment(strings.TrimSuffix(index, "]"))
			_, rule = split(rule)
			t = t.Elem()
		} else {
			f := fieldsOf(t).find(segment)
			rule, doc, t = f.rule, f.doc, f.typ
			next = n.get(segment)
		}
		path = join(path, segment)
		if next == nil {
			return fail(n.at, path, "missing, want %s", withDoc(wanted(t, rule), doc))
		}
		n = next
	}
	want := withDoc(wanted(t, rule), doc)
	switch {
	case n.kind == list && len(n.items) == 0:
		return fail(n.at, path, "found an empty list, want %s", want)
	case strings.HasPrefix(rule, "oneof="):
		return fail(n.at, path, "found %s, %s", n.found(), oneOf(n.text, strings.Fields(rule[len("oneof="):])))
	}
	return fail(n.at, path, "found %s, want %s", n.found(), want)
}

func withDoc(want, doc string) string {
	if doc == "" {
		return want
	}
	return want + " (" + doc + ")"
}
