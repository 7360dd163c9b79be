package scenario

import (
	"bourse/workloadgen/config"
	"encoding"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// A field is the location of a value, with its rules and description.
type field struct {
	path string
	rule string // its validate tag
	doc  string
}

// decode sets v from n. It is strict: unknown fields, wrong types and non-finite numbers are
// errors. It does not change what n omits.
//
// Types may decode themselves by UnmarshalYAML(func(any) error) error or UnmarshalText.
func decode(n *node, v reflect.Value, f field) error {
	switch p := v.Addr().Interface().(type) {
	case *Choice:
		return decodeChoice(n, p, f)
	case *Options:
		return decodeOptions(n, p, f)
	case interface{ UnmarshalYAML(func(any) error) error }:
		return blame(n.at, f.path, p.UnmarshalYAML(func(out any) error {
			return decode(n, reflect.ValueOf(out).Elem(), f)
		}))
	case encoding.TextUnmarshaler:
		if n.kind == scalar {
			return blame(n.at, f.path, p.UnmarshalText([]byte(n.text)))
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		return decodePointer(n, v, f)
	case reflect.Struct:
		return decodeStruct(n, v, f)
	case reflect.Slice:
		return decodeSlice(n, v, f)
	case reflect.Array:
		return decodeArray(n, v, f)
	case reflect.Map:
		return decodeMap(n, v, f)
	case reflect.Interface:
		x, err := decodeAny(n, f)
		if err == nil && x != nil {
			v.Set(reflect.ValueOf(x))
		}
		return err
	}
	return decodeScalar(n, v, f)
}

func (n *node) mismatch(v reflect.Value, f field) error {
	doc := f.doc
	if unit := config.UnitOf(doc); unit != config.NoUnit && v.Kind() == reflect.Float64 {
		doc += "; " + unit.Want()
	}
	return fail(n.at, f.path, "found %s, want %s", n.found(), config.WithDoc(config.Want(v.Type(), f.rule), doc))
}

func decodePointer(n *node, v reflect.Value, f field) error {
	if n.kind == null {
		v.SetZero()
		return nil
	}
	p := reflect.New(v.Type().Elem())
	if !v.IsNil() {
		p.Elem().Set(v.Elem())
	}
	if err := decode(n, p.Elem(), f); err != nil {
		return err
	}
	v.Set(p)
	return nil
}

func decodeStruct(n *node, v reflect.Value, f field) error {
	if n.kind != mapping {
		return n.mismatch(v, f)
	}
	known := config.FieldsOf(v.Type())
	for _, k := range n.keys {
		if known.Find(k.name) == nil {
			return fail(k.at, join(f.path, clip(k.name)), "unknown field, %s", OneOf(k.name, known.Names()))
		}
	}
	for _, s := range known {
		item := n.get(s.Name)
		if item == nil {
			continue
		}
		if err := decode(item, v.FieldByIndex(s.Index), field{join(f.path, s.Name), s.Rule, s.Doc}); err != nil {
			return err
		}
	}
	return nil
}

func decodeSlice(n *node, v reflect.Value, f field) error {
	if n.kind != list {
		return n.mismatch(v, f)
	}
	out := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	rule := config.RuleOf(f.rule).Elements
	for i, item := range n.items {
		if c, ok := out.Index(i).Addr().Interface().(*Configuration); ok {
			*c = Default()
		}
		path := join(f.path, item.segment(strconv.Itoa(i)))
		if err := decode(item, out.Index(i), field{path, rule, f.doc}); err != nil {
			return err
		}
	}
	v.Set(out)
	return nil
}

// decodeArray requires as many elements as v has.
func decodeArray(n *node, v reflect.Value, f field) error {
	if n.kind != list {
		return n.mismatch(v, f)
	}
	if len(n.items) != v.Len() {
		return fail(n.at, f.path, "found a list of %d, want %s", len(n.items), config.WithDoc(config.Want(v.Type(), f.rule), f.doc))
	}
	rule := config.RuleOf(f.rule).Elements
	for i, item := range n.items {
		if err := decode(item, v.Index(i), field{join(f.path, item.segment(strconv.Itoa(i))), rule, f.doc}); err != nil {
			return err
		}
	}
	return nil
}

func decodeMap(n *node, v reflect.Value, f field) error {
	if n.kind != mapping || v.Type().Key().Kind() != reflect.String {
		return n.mismatch(v, f)
	}
	out := reflect.MakeMapWithSize(v.Type(), len(n.keys))
	for i, k := range n.keys {
		item := reflect.New(v.Type().Elem()).Elem()
		if err := decode(n.items[i], item, field{path: join(f.path, clip(k.name))}); err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(k.name).Convert(v.Type().Key()), item)
	}
	v.Set(out)
	return nil
}

var (
	number = regexp.MustCompile(`^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
	whole  = regexp.MustCompile(`^[-+]?[0-9]+$`)
	point  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,63}(@[A-Za-z0-9.+,-]+)?$`) // a word, or the name of a point of a sweep
	word   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`)
)

func decodeScalar(n *node, v reflect.Value, f field) error {
	if n.kind == null && v.Kind() == reflect.String {
		v.SetString("")
		return nil
	}
	if n.kind != scalar {
		return n.mismatch(v, f)
	}
	if v.Kind() == reflect.String {
		v.SetString(n.text)
		return nil
	}
	if n.quoted {
		return n.mismatch(v, f)
	}
	ok := false
	switch v.Kind() {
	case reflect.Bool:
		ok = n.text == "true" || n.text == "false"
		if ok {
			v.SetBool(n.text == "true")
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x, err := strconv.ParseInt(n.text, 10, v.Type().Bits())
		if ok = err == nil; ok {
			v.SetInt(x)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		x, err := strconv.ParseUint(strings.TrimPrefix(n.text, "+"), 10, v.Type().Bits())
		if ok = err == nil; ok {
			v.SetUint(x)
		}
	case reflect.Float32, reflect.Float64:
		x, err := strconv.ParseFloat(n.text, v.Type().Bits())
		ok = err == nil && number.MatchString(n.text)
		if unit := config.UnitOf(f.doc); !ok && unit != config.NoUnit {
			x, ok = unit.Parse(n.text)
		}
		if ok {
			v.SetFloat(x)
		}
	default:
		panic("scenario: options cannot hold a " + v.Type().String())
	}
	if !ok {
		return n.mismatch(v, f)
	}
	return nil
}

// decodeAny returns a string, a bool, an int64, uint64 or float64, a []any or a
// map[string]any.
func decodeAny(n *node, f field) (any, error) {
	switch n.kind {
	case null:
		return nil, nil
	case list:
		var out []any
		return out, decode(n, reflect.ValueOf(&out).Elem(), f)
	case mapping:
		var out map[string]any
		err := decode(n, reflect.ValueOf(&out).Elem(), f)
		return out, err
	}
	switch {
	case n.quoted:
		return n.text, nil
	case n.text == "true" || n.text == "false":
		return n.text == "true", nil
	case whole.MatchString(n.text):
		if x, err := strconv.ParseInt(n.text, 10, 64); err == nil {
			return x, nil
		}
		if x, err := strconv.ParseUint(n.text, 10, 64); err == nil {
			return x, nil
		}
		fallthrough
	case number.MatchString(n.text):
		var x float64
		err := decode(n, reflect.ValueOf(&x).Elem(), f)
		return x, err
	}
	return n.text, nil
}
