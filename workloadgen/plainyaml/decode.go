package plainyaml

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A node is one value of a text, or of the options that a program makes.
type node struct {
	kind         kind
	value        any      // of a scalar: bool, int64, uint64, float64 or string
	text         string   // of a scalar, as it is written
	keys         []string // of a mapping
	items        []*node  // of a list, or the values of a mapping's keys
	line, column int
}

type kind uint8

const (
	null kind = iota
	scalar
	list
	mapping
)

// Decode fills in out, a pointer, from what a program holds: a map[string]any of
// numbers, truths, texts, slices, maps and structs that have yaml tags. It is as
// strict as [Unmarshal]: no field is unknown, no number cut to a whole one, no text
// taken for a number.
func Decode(from, out any) error {
	n, err := nodeOf(reflect.ValueOf(from))
	if err != nil {
		return err
	}
	return n.decode(reflect.ValueOf(out).Elem(), "")
}

// decode fills in v with what stands at a path.
func (n *node) decode(v reflect.Value, path string) error {
	if own, ok := v.Addr().Interface().(interface{ UnmarshalYAML(func(any) error) error }); ok {
		return own.UnmarshalYAML(func(out any) error { return n.decode(reflect.ValueOf(out).Elem(), path) })
	}
	switch v.Kind() {
	case reflect.Pointer:
		if n.kind == null {
			v.SetZero()
			return nil
		}
		p := reflect.New(v.Type().Elem())
		if !v.IsNil() {
			p.Elem().Set(v.Elem())
		}
		v.Set(p)
		return n.decode(p.Elem(), path)
	case reflect.Interface:
		if x := n.plain(); x != nil {
			v.Set(reflect.ValueOf(x))
		} else {
			v.SetZero()
		}
		return nil
	case reflect.Struct:
		return n.decodeStruct(v, path)
	case reflect.Map:
		return n.decodeMap(v, path)
	case reflect.Slice, reflect.Array:
		return n.decodeList(v, path)
	}
	return n.decodeScalar(v, path)
}

func (n *node) decodeStruct(v reflect.Value, path string) error {
	if n.kind != mapping {
		return n.wrong(path, "a mapping")
	}
	fields := fieldsOf(v)
	for i, k := range n.keys {
		j := slices.IndexFunc(fields, func(f field) bool { return f.name == k })
		if j < 0 {
			names := make([]string, len(fields))
			for i := range fields {
				names[i] = fields[i].name
			}
			return n.items[i].fail(join(path, clip(k)), "unknown field, want one of %s", strings.Join(names, ", "))
		}
		if err := n.items[i].decode(fields[j].value, join(path, k)); err != nil {
			return err
		}
	}
	return nil
}

// A field of a struct, by the name that a file gives it.
type field struct {
	name  string
	value reflect.Value
}

func fieldsOf(v reflect.Value) []field {
	var out []field
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case option == "inline":
			out = append(out, fieldsOf(v.Field(i))...)
		case f.IsExported() && name != "-":
			if name == "" {
				name = strings.ToLower(f.Name)
			}
			out = append(out, field{name, v.Field(i)})
		}
	}
	return out
}

func (n *node) decodeMap(v reflect.Value, path string) error {
	if n.kind == null {
		v.SetZero()
		return nil
	}
	if n.kind != mapping {
		return n.wrong(path, "a mapping")
	}
	out := reflect.MakeMapWithSize(v.Type(), len(n.keys))
	for i, k := range n.keys {
		item := reflect.New(v.Type().Elem()).Elem()
		if err := n.items[i].decode(item, join(path, clip(k))); err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(k).Convert(v.Type().Key()), item)
	}
	v.Set(out)
	return nil
}

func (n *node) decodeList(v reflect.Value, path string) error {
	if n.kind == null && v.Kind() == reflect.Slice {
		v.SetZero()
		return nil
	}
	if n.kind != list {
		return n.wrong(path, "a list")
	}
	if v.Kind() == reflect.Array && v.Len() != len(n.items) {
		return n.fail(path, "found a list of %d, want one of %d", len(n.items), v.Len())
	}
	out := v
	if v.Kind() == reflect.Slice {
		out = reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	}
	for i, item := range n.items {
		if err := item.decode(out.Index(i), join(path, strconv.Itoa(i))); err != nil {
			return err
		}
	}
	v.Set(out)
	return nil
}

func (n *node) decodeScalar(v reflect.Value, path string) error {
	x := reflect.ValueOf(n.value)
	whole, fits := n.whole()
	switch v.Kind() {
	case reflect.String:
		if n.kind != scalar {
			return n.wrong(path, "a text")
		}
		v.SetString(n.text)
	case reflect.Bool:
		if n.kind != scalar || x.Kind() != reflect.Bool {
			return n.wrong(path, "true or false")
		}
		v.SetBool(x.Bool())
	case reflect.Float64:
		switch {
		case x.IsValid() && x.CanFloat():
			v.SetFloat(x.Float())
		case x.IsValid() && x.CanInt():
			v.SetFloat(float64(x.Int()))
		case x.IsValid() && x.CanUint():
			v.SetFloat(float64(x.Uint()))
		default:
			return n.wrong(path, "a number")
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		if !fits || v.OverflowInt(whole) {
			return n.wrong(path, "a whole number")
		}
		v.SetInt(whole)
	case reflect.Uint64:
		if u, ok := n.value.(uint64); ok {
			v.SetUint(u)
			return nil
		}
		if !fits || whole < 0 {
			return n.wrong(path, "a whole number, at least 0")
		}
		v.SetUint(uint64(whole))
	default:
		panic("plainyaml: cannot fill in a " + v.Type().String())
	}
	return nil
}

// whole returns the whole number that n is, be it written 3.0 or 1e3.
func (n *node) whole() (int64, bool) {
	switch x := n.value.(type) {
	case int64:
		return x, true
	case float64:
		return int64(x), x == math.Trunc(x) && math.Abs(x) <= 1<<53
	}
	return 0, false
}

// plain returns nil, a bool, an int64, uint64, float64 or string, a []any or a
// map[string]any.
func (n *node) plain() any {
	switch n.kind {
	case scalar:
		return n.value
	case list:
		out := make([]any, len(n.items))
		for i, item := range n.items {
			out[i] = item.plain()
		}
		return out
	case mapping:
		out := make(map[string]any, len(n.items))
		for i, item := range n.items {
			out[n.keys[i]] = item.plain()
		}
		return out
	}
	return nil
}

// nodeOf returns what a program holds as a node.
func nodeOf(v reflect.Value) (*node, error) {
	for v.IsValid() && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) {
		v = v.Elem()
	}
	if !v.IsValid() {
		return &node{}, nil
	}
	n := &node{kind: scalar}
	put := func(item reflect.Value) error {
		child, err := nodeOf(item)
		n.items = append(n.items, child)
		return err
	}
	switch {
	case v.CanInt():
		n.value, n.text = v.Int(), strconv.FormatInt(v.Int(), 10)
	case v.CanUint():
		n.value, n.text = v.Uint(), strconv.FormatUint(v.Uint(), 10)
		if v.Uint() <= math.MaxInt64 {
			n.value = int64(v.Uint())
		}
	case v.CanFloat():
		n.value, n.text = v.Float(), strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case v.Kind() == reflect.Bool:
		n.value, n.text = v.Bool(), strconv.FormatBool(v.Bool())
	case v.Kind() == reflect.String:
		n.value, n.text = v.String(), v.String()
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		n.kind = list
		for i := range v.Len() {
			if err := put(v.Index(i)); err != nil {
				return nil, err
			}
		}
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		n.kind = mapping
		names := v.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range names {
			n.keys = append(n.keys, k.String())
			if err := put(v.MapIndex(k)); err != nil {
				return nil, err
			}
		}
	case v.Kind() == reflect.Struct:
		n.kind = mapping
		for _, f := range fieldsOf(v) {
			if f.value.Kind() == reflect.Map && f.value.Len() == 0 {
				continue
			}
			n.keys = append(n.keys, f.name)
			if err := put(f.value); err != nil {
				return nil, err
			}
		}
	default:
		return nil, fmt.Errorf("found a %s, want what YAML can say", v.Type())
	}
	return n, nil
}

func (n *node) wrong(path, want string) error {
	found := n.text
	if _, text := n.value.(string); text {
		found = strconv.Quote(clip(n.text))
	}
	switch n.kind {
	case null:
		found = "nothing"
	case list:
		found = "a list"
	case mapping:
		found = "a mapping"
	}
	return n.fail(path, "found %s, want %s", found, want)
}

func (n *node) fail(path, format string, args ...any) error {
	return &Error{n.line, n.column, path, fmt.Sprintf(format, args...)}
}
