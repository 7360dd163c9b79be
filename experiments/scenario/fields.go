package scenario

import (
	"reflect"
	"strings"
)

// A structField is a field of a Go struct as files know it.
type structField struct {
	name  string
	rule  string // validate tag
	doc   string // doc tag
	index []int
	typ   reflect.Type
}

type structFields []structField

// fieldsOf returns the fields of a struct in their order, those of embedded
// structs tagged inline in their place.
func fieldsOf(t reflect.Type) structFields {
	var out structFields
	for i := range t.NumField() {
		s := t.Field(i)
		name, options, _ := strings.Cut(s.Tag.Get("yaml"), ",")
		if options == "inline" {
			for _, in := range fieldsOf(s.Type) {
				in.index = append([]int{i}, in.index...)
				out = append(out, in)
			}
			continue
		}
		if !s.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = strings.ToLower(s.Name)
		}
		out = append(out, structField{name, s.Tag.Get("validate"), s.Tag.Get("doc"), []int{i}, s.Type})
	}
	return out
}

func (fs structFields) find(name string) *structField {
	for i := range fs {
		if fs[i].name == name {
			return &fs[i]
		}
	}
	return nil
}

func (fs structFields) names() []string {
	var out []string
	for _, f := range fs {
		out = append(out, f.name)
	}
	return out
}
