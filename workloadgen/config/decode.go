package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A Node is one value of a text, or of the options that a program makes.
type Node struct {
	Kind         Kind
	Value        any      // of a scalar: bool, int64, uint64, float64 or string
	Text         string   // of a scalar, as it is written
	Keys         []string // of a mapping
	Items        []*Node  // of a list, or the values of a mapping's keys
	Line, Column int      // from 1; 0 if not known
}

// A Kind is what a Node is.
type Kind uint8

// Kinds of nodes.
const (
	Null Kind = iota
	Scalar
	List
	Mapping
)

// An Error says what is wrong with a text or its options, and where.
type Error struct {
	Line, Column int    // from 1; 0 if not known
	Field        string // path, such as options.iat.name; empty for the text as a whole
	Problem      string // what was found, and what would be right
}

// Error says where, as far as that is known, and what is wrong.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "%d: ", e.Line)
	}
	if e.Field != "" {
		b.WriteString(e.Field + ": ")
	}
	return b.String() + e.Problem
}

// Decode fills in out, a pointer, from what a program holds: a map[string]any of
// numbers, truths, texts, slices, maps and structs that have yaml tags. It is as
// strict as a reader of files: no field is unknown, no number cut to a whole one, no
// text taken for a number.
func Decode(from, out any) error {
	n, err := NodeOf(reflect.ValueOf(from))
	if err != nil {
		return err
	}
	return n.Decode(out)
}

// Decode fills in out, a pointer, from n, as strictly as the function of that name.
func (n *Node) Decode(out any) error { return n.decode(reflect.ValueOf(out).Elem(), "") }

// decode fills in v with what stands at a path.
func (n *Node) decode(v reflect.Value, path string) error {
	if own, ok := v.Addr().Interface().(interface{ UnmarshalYAML(func(any) error) error }); ok {
		return own.UnmarshalYAML(func(out any) error { return n.decode(reflect.ValueOf(out).Elem(), path) })
	}
	switch v.Kind() {
	case reflect.Pointer:
		if n.Kind == Null {
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

func (n *Node) decodeStruct(v reflect.Value, path string) error {
	if n.Kind != Mapping {
		return n.wrong(path, "a mapping")
	}
	fields := FieldsOf(v.Type())
	for i, k := range n.Keys {
		f := fields.Find(k)
		if f == nil {
			return n.Items[i].Fail(Join(path, Clip(k)), "unknown field, %s", OneOf(k, fields.Names()))
		}
		item, err := n.Items[i].inUnit(UnitOf(f.Doc), f.Type, Join(path, k))
		if err != nil {
			return err
		}
		if err := item.decode(v.FieldByIndex(f.Index), Join(path, k)); err != nil {
			return err
		}
	}
	return nil
}

// inUnit returns n, which stands at a path, as a number of u, where it is a text that is to
// say one of a field that is a number.
func (n *Node) inUnit(u Unit, field reflect.Type, path string) (*Node, error) {
	for field.Kind() == reflect.Pointer {
		field = field.Elem()
	}
	text, is := n.Value.(string)
	if u == NoUnit || !is || field.Kind() != reflect.Float64 {
		return n, nil
	}
	x, ok := u.Parse(text)
	if !ok {
		return nil, n.wrong(path, u.Want())
	}
	number := *n
	number.Value = x
	return &number, nil
}

func (n *Node) decodeMap(v reflect.Value, path string) error {
	if n.Kind == Null {
		v.SetZero()
		return nil
	}
	if n.Kind != Mapping {
		return n.wrong(path, "a mapping")
	}
	out := reflect.MakeMapWithSize(v.Type(), len(n.Keys))
	for i, k := range n.Keys {
		item := reflect.New(v.Type().Elem()).Elem()
		if err := n.Items[i].decode(item, Join(path, Clip(k))); err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(k).Convert(v.Type().Key()), item)
	}
	v.Set(out)
	return nil
}

func (n *Node) decodeList(v reflect.Value, path string) error {
	if n.Kind == Null && v.Kind() == reflect.Slice {
		v.SetZero()
		return nil
	}
	if n.Kind != List {
		return n.wrong(path, "a list")
	}
	if v.Kind() == reflect.Array && v.Len() != len(n.Items) {
		return n.Fail(path, "found a list of %d, want one of %d", len(n.Items), v.Len())
	}
	out := v
	if v.Kind() == reflect.Slice {
		out = reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items))
	}
	for i, item := range n.Items {
		if err := item.decode(out.Index(i), Join(path, strconv.Itoa(i))); err != nil {
			return err
		}
	}
	v.Set(out)
	return nil
}

func (n *Node) decodeScalar(v reflect.Value, path string) error {
	x := reflect.ValueOf(n.Value)
	whole, fits := n.whole()
	switch v.Kind() {
	case reflect.String:
		if n.Kind != Scalar {
			return n.wrong(path, "a text")
		}
		v.SetString(n.Text)
	case reflect.Bool:
		if n.Kind != Scalar || x.Kind() != reflect.Bool {
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
		if u, ok := n.Value.(uint64); ok {
			v.SetUint(u)
			return nil
		}
		if !fits || whole < 0 {
			return n.wrong(path, "a whole number, at least 0")
		}
		v.SetUint(uint64(whole))
	default:
		panic("config: cannot decode into a " + v.Type().String())
	}
	return nil
}

// whole returns the whole number that n is, be it written 3.0 or 1e3.
func (n *Node) whole() (int64, bool) {
	switch x := n.Value.(type) {
	case int64:
		return x, true
	case float64:
		return int64(x), x == math.Trunc(x) && math.Abs(x) <= 1<<53
	}
	return 0, false
}

// plain returns nil, a bool, an int64, uint64, float64 or string, a []any or a
// map[string]any.
func (n *Node) plain() any {
	switch n.Kind {
	case Scalar:
		return n.Value
	case List:
		out := make([]any, len(n.Items))
		for i, item := range n.Items {
			out[i] = item.plain()
		}
		return out
	case Mapping:
		out := make(map[string]any, len(n.Items))
		for i, item := range n.Items {
			out[n.Keys[i]] = item.plain()
		}
		return out
	}
	return nil
}

// NodeOf returns what a program holds as a Node.
func NodeOf(v reflect.Value) (*Node, error) {
	for v.IsValid() && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) {
		v = v.Elem()
	}
	if !v.IsValid() {
		return &Node{}, nil
	}
	n := &Node{Kind: Scalar}
	put := func(item reflect.Value) error {
		child, err := NodeOf(item)
		n.Items = append(n.Items, child)
		return err
	}
	switch {
	case v.CanInt():
		n.Value, n.Text = v.Int(), strconv.FormatInt(v.Int(), 10)
	case v.CanUint():
		n.Value, n.Text = v.Uint(), strconv.FormatUint(v.Uint(), 10)
		if v.Uint() <= math.MaxInt64 {
			n.Value = int64(v.Uint())
		}
	case v.CanFloat():
		n.Value, n.Text = v.Float(), strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case v.Kind() == reflect.Bool:
		n.Value, n.Text = v.Bool(), strconv.FormatBool(v.Bool())
	case v.Kind() == reflect.String:
		n.Value, n.Text = v.String(), v.String()
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		n.Kind = List
		for i := range v.Len() {
			if err := put(v.Index(i)); err != nil {
				return nil, err
			}
		}
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		n.Kind = Mapping
		names := v.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range names {
			n.Keys = append(n.Keys, k.String())
			if err := put(v.MapIndex(k)); err != nil {
				return nil, err
			}
		}
	case v.Kind() == reflect.Struct:
		n.Kind = Mapping
		for _, f := range FieldsOf(v.Type()) {
			value := v.FieldByIndex(f.Index)
			if value.Kind() == reflect.Map && value.Len() == 0 {
				continue
			}
			n.Keys = append(n.Keys, f.Name)
			if err := put(value); err != nil {
				return nil, err
			}
		}
	default:
		return nil, fmt.Errorf("found a %s, want a YAML value", v.Type())
	}
	return n, nil
}

func (n *Node) wrong(path, want string) error {
	found := n.Text
	if _, text := n.Value.(string); text {
		found = strconv.Quote(Clip(n.Text))
	}
	switch n.Kind {
	case Null:
		found = "nothing"
	case List:
		found = "a list"
	case Mapping:
		found = "a mapping"
	}
	return n.Fail(path, "found %s, want %s", found, want)
}

// Fail says what is wrong with n, which stands at a path.
func (n *Node) Fail(path, format string, args ...any) error {
	return &Error{n.Line, n.Column, path, fmt.Sprintf(format, args...)}
}
