package config

import (
	"maps"
	"reflect"
)

// An Option describes, for users, one option of a member.
type Option struct {
	Name    string `json:"name" doc:"name; nested options are joined with a dot"`
	Default any    `json:"default"`
	Want    string `json:"want" doc:"accepted values"`
	Doc     string `json:"doc"`

	Type reflect.Type `json:"-"`
	Rule string       `json:"-"` // see [RuleOf]
}

// A Family is a [plugin.Table] with members of any type.
type Family interface {
	Names() []string
	Doc(name string) string
	Defaults(name string) any
}

// Options lists the options of the named member of f. It does not create the member.
func Options(f Family, name string) []Option {
	if o := f.Defaults(name); o != nil {
		return list("", reflect.ValueOf(o).Elem())
	}
	return []Option{}
}

// list lists the fields of a struct. If a pointer to a struct is not set, it also lists the
// initial values of the struct.
func list(prefix string, v reflect.Value) []Option {
	all := []Option{}
	for _, f := range FieldsOf(v.Type()) {
		name, value, t := prefix+f.Name, v.FieldByIndex(f.Index), f.Type
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		below := t.Kind() == reflect.Struct && t != reflect.TypeFor[Spec]()
		if below && f.Type.Kind() != reflect.Pointer {
			all = append(all, list(name+".", value)...)
			continue
		}
		all = append(all, Option{name, plain(value), want(f.Type, f.Rule), f.Doc, f.Type, f.Rule})
		if below {
			start := reflect.New(t)
			setDefaults(start)
			all = append(all, list(name+".", start.Elem())...)
		}
	}
	return all
}

// plain returns a value as a file would contain it, or nil if the value is not set.
func plain(v reflect.Value) any {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	s, ok := v.Interface().(Spec)
	switch {
	case !ok:
		return v.Interface()
	case len(s.Options) == 0:
		return s.Name
	}
	said := maps.Clone(s.Options)
	said["name"] = s.Name
	return said
}
