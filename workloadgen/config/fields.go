package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A Field is a field of a struct as written in files.
type Field struct {
	Name  string
	Rule  string // validate tag, see [RuleOf]
	Doc   string // doc tag
	Index []int
	Type  reflect.Type
}

// Fields are the fields of one struct.
type Fields []Field

// FieldsOf returns the fields of a struct in order. Fields of embedded structs that are tagged
// inline take the place of the struct.
func FieldsOf(t reflect.Type) Fields {
	var out Fields
	for i := range t.NumField() {
		s := t.Field(i)
		name, options, _ := strings.Cut(s.Tag.Get("yaml"), ",")
		switch {
		case options == "inline" && s.Type.Kind() == reflect.Map: // see restOf
		case options == "inline":
			for _, in := range FieldsOf(s.Type) {
				in.Index = append([]int{i}, in.Index...)
				out = append(out, in)
			}
		case s.IsExported() && name != "-":
			if name == "" {
				name = strings.ToLower(s.Name)
			}
			out = append(out, Field{name, s.Tag.Get("validate"), s.Tag.Get("doc"), []int{i}, s.Type})
		}
	}
	return out
}

// restOf returns the index of the field of a struct that is a map tagged inline, or nil. The
// map contains the keys for which the struct has no field.
func restOf(t reflect.Type) []int {
	for i := range t.NumField() {
		s := t.Field(i)
		if _, options, _ := strings.Cut(s.Tag.Get("yaml"), ","); options == "inline" && s.Type.Kind() == reflect.Map {
			return s.Index
		}
	}
	return nil
}

// Find returns the named field, or nil if there is none.
func (fs Fields) Find(name string) *Field {
	if i := slices.IndexFunc(fs, func(f Field) bool { return f.Name == name }); i >= 0 {
		return &fs[i]
	}
	return nil
}

// Names returns the names of the fields.
func (fs Fields) Names() []string {
	var out []string
	for _, f := range fs {
		out = append(out, f.Name)
	}
	return out
}

// A Rule restricts the values of a field. A bound that is not set is an empty string.
type Rule struct {
	Min, Over  string // bounds; for a list, of its length
	Max, Under string // at most, less than
	OneOf      []string
	Required   bool   // a non-empty string
	Omit       bool   // 0 or an empty string is also valid
	Elements   string // the rule of a list's elements
}

// RuleOf reads a validate tag:
//
//	min=0,max=1e6            0 to 1e6, both included
//	gt=0,lt=1                0 to 1, neither included; either end may be left open
//	oneof=edf edf+insert     one of these words
//	required                 a text that is not empty
//	omitempty,gt=0,lt=1      0, which is none, or that
//	min=1,dive,gt=0          a list of at least one, each element more than 0
//
// Every rule requires finite numbers. A rule on a pointer applies to the value that it points
// to, if any.
func RuleOf(tag string) (r Rule) {
	if tag == "" {
		return r
	}
	own, elements, _ := strings.Cut(tag, "dive")
	r.Elements = strings.TrimPrefix(elements, ",")
	for _, part := range strings.FieldsFunc(own, func(c rune) bool { return c == ',' }) {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "min":
			r.Min = value
		case "gt":
			r.Over = value
		case "max":
			r.Max = value
		case "lt":
			r.Under = value
		case "oneof":
			r.OneOf = strings.Fields(value)
		case "required":
			r.Required = true
		case "omitempty":
			r.Omit = true
		default:
			panic("config: unknown rule " + part)
		}
	}
	return r
}

// want describes the valid values of a field of type t with the given validate tag. A type may
// override it with a method Want.
func want(t reflect.Type, tag string) string {
	if own, ok := reflect.Zero(t).Interface().(interface{ Want() string }); ok && t.Kind() != reflect.Pointer {
		return own.Want()
	}
	r := RuleOf(tag)
	switch t.Kind() {
	case reflect.Pointer:
		return want(t.Elem(), tag)
	case reflect.Struct:
		return "a mapping with the fields " + strings.Join(FieldsOf(t).Names(), ", ")
	case reflect.Map:
		return "a mapping"
	case reflect.Slice:
		if r.Min != "" {
			return "a list of one or more, each " + want(t.Elem(), r.Elements)
		}
		return "a list, each " + want(t.Elem(), r.Elements)
	case reflect.Array:
		return fmt.Sprintf("a list of %d, each %s", t.Len(), want(t.Elem(), r.Elements))
	case reflect.String:
		if r.OneOf != nil {
			return "one of " + strings.Join(r.OneOf, ", ") + r.or("nothing")
		}
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number" + r.limits()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if r.Min == "" && r.Over == "" {
			r.Min = "0"
		}
	}
	return "a whole number" + r.limits()
}

// limits describes the numbers that r allows.
func (r Rule) limits() string {
	var out []string
	for _, l := range []struct{ words, bound string }{{"at least", r.Min}, {"more than", r.Over}, {"at most", r.Max}, {"less than", r.Under}} {
		if l.bound != "" {
			out = append(out, l.words+" "+l.bound)
		}
	}
	if out == nil {
		return ""
	}
	return " " + strings.Join(out, " and ") + r.or("0")
}

// or returns a text for messages: ", or" and the word nothing, if r permits an empty value.
// Otherwise it returns "".
func (r Rule) or(nothing string) string {
	if r.Omit {
		return ", or " + nothing
	}
	return ""
}
