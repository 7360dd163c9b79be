package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"

	"bourse/workloadgen/plugin"
)

// A wrong is a value that violates the tag of its field.
type wrong struct {
	field string // path, such as iat.min or weights.2
	found string
	want  string
	words []string // valid words, if the tag lists them
}

// Check checks the validate tags of v, a pointer, including nested values: see [RuleOf]. The
// error for the first violation is an [*Error] without a place.
func Check(v any) error {
	if w := check(reflect.ValueOf(v).Elem(), Field{}, ""); w != nil {
		return &Error{Field: w.field, Problem: "found " + w.found + ", want " + w.want}
	}
	return nil
}

// Check checks a value of the field without its documentation. It returns a message with the
// value found and the values wanted, or an empty string if v is valid.
func (f Field) Check(v reflect.Value) string {
	f.Doc = ""
	if w := check(v, f, f.Name); w != nil {
		return "found " + w.found + ", want " + w.want
	}
	return ""
}

// Check checks the validate tags of v, a pointer to a value that was decoded from n. The path
// of n in its file is path. Its error contains the position of the value.
func (n *Node) Check(path string, v any) error {
	w := check(reflect.ValueOf(v).Elem(), Field{}, "")
	if w == nil {
		return nil
	}
	field, at, found := n.Follow(w.field)
	field = Join(path, field)
	switch {
	case !found:
		return at.At.Fail(field, "missing, want %s", w.want)
	case at.Kind == List && len(at.Items) == 0:
		return at.At.Fail(field, "found an empty list, want %s", w.want)
	case w.words != nil:
		return at.At.Fail(field, "found %s, %s", at.Found(), plugin.OneOf(at.Text, w.words))
	}
	return at.At.Fail(field, "found %s, want %s", at.Found(), w.want)
}

func check(v reflect.Value, f Field, path string) *wrong {
	r := RuleOf(f.Rule)
	ok, found := true, ""
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return check(v.Elem(), f, path)
	case reflect.Struct:
		for _, in := range FieldsOf(v.Type()) {
			if w := check(v.FieldByIndex(in.Index), in, Join(path, in.Name)); w != nil {
				return w
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if w := check(v.Index(i), Field{Rule: r.Elements, Doc: f.Doc}, Join(path, strconv.Itoa(i))); w != nil {
				return w
			}
		}
		ok, found = r.allows(float64(v.Len())), "an empty list"
	case reflect.String:
		ok = !(r.Required && v.Len() == 0) && (r.OneOf == nil || slices.Contains(r.OneOf, v.String()))
		found = strconv.Quote(plugin.Clip(v.String()))
	case reflect.Float32, reflect.Float64:
		x := v.Float()
		ok, found = !math.IsNaN(x) && !math.IsInf(x, 0) && r.allows(x), fmt.Sprint(x)
	default:
		switch {
		case v.CanInt():
			ok, found = r.allows(float64(v.Int())), fmt.Sprint(v.Int())
		case v.CanUint():
			ok, found = r.allows(float64(v.Uint())), fmt.Sprint(v.Uint())
		}
	}
	if ok || r.Omit && v.IsZero() {
		return nil
	}
	return &wrong{path, found, withDoc(want(v.Type(), f.Rule), f.Doc), r.OneOf}
}

// withDoc adds the meaning of a field to the description of its valid values.
func withDoc(want, doc string) string {
	if doc == "" {
		return want
	}
	return want + " (" + doc + ")"
}

// allows reports whether x is within the bounds.
func (r Rule) allows(x float64) bool {
	within := func(bound string, ok func(b float64) bool) bool {
		if bound == "" {
			return true
		}
		b, err := strconv.ParseFloat(bound, 64)
		if err != nil {
			panic("config: " + err.Error())
		}
		return ok(b)
	}
	return within(r.Min, func(b float64) bool { return x >= b }) && within(r.Over, func(b float64) bool { return x > b }) &&
		within(r.Max, func(b float64) bool { return x <= b }) && within(r.Under, func(b float64) bool { return x < b })
}
