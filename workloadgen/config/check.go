package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
)

// A Wrong is a value that violates the tag of its field.
type Wrong struct {
	Field string // path, such as iat.min or weights.2
	Found string
	Want  string
	OneOf []string // valid words, if the tag lists them
}

// Error returns the field, what was found and what is wanted.
func (w *Wrong) Error() string { return w.Field + ": found " + w.Found + ", want " + w.Want }

// Check checks the validate tags of v, a pointer to a struct, including nested values: see
// [RuleOf]. The error for the first violation is a [*Wrong].
func Check(v any) error {
	if w := check(reflect.ValueOf(v).Elem(), Field{}, ""); w != nil {
		return w
	}
	return nil
}

// Check checks a value of the field without its documentation, or returns nil.
func (f Field) Check(v reflect.Value) *Wrong {
	f.Doc = ""
	return check(v, f, f.Name)
}

func check(v reflect.Value, f Field, path string) *Wrong {
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
		found = strconv.Quote(Clip(v.String()))
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
	return &Wrong{path, found, WithDoc(Want(v.Type(), f.Rule), f.Doc), r.OneOf}
}

// WithDoc puts what a field means behind what it takes.
func WithDoc(want, doc string) string {
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

// Join appends a segment to a path.
func Join(path, segment string) string {
	if path == "" {
		return segment
	}
	return path + "." + segment
}

// Clip shortens a found value to fit into one line.
func Clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
