package config

import (
	"encoding"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"bourse/workloadgen/plugin"
)

// Fill decodes n into the pointer out. The path of n in its file is path. It then checks the
// tags of out, and that no word is unclear. [Read] calls it for a file.
func (n *Node) Fill(path string, out any) error {
	if n.Kind != Null {
		if err := n.Decode(path, out); err != nil {
			return err
		}
	}
	if err := n.Check(path, out); err != nil {
		return err
	}
	return n.Unclear(path)
}

// Decode sets the pointer out from n without checking tags. The path of n in its file is path.
// It does not change fields that n omits. Null sets a pointer, a list, a map or text to its
// zero value.
//
// A type may decode itself with a method FromNode(n *Node, path string) error or UnmarshalText.
// A method SetDefaults() sets the initial values of a list element, or of the target of a
// pointer.
func (n *Node) Decode(path string, out any) error {
	return n.decode(reflect.ValueOf(out).Elem(), field{path: path})
}

// A field is the location of a value, with its rule and description.
type field struct{ path, rule, doc string }

func (n *Node) decode(v reflect.Value, f field) error {
	switch p := v.Addr().Interface().(type) {
	case interface{ FromNode(*Node, string) error }:
		return p.FromNode(n, f.path)
	case encoding.TextUnmarshaler:
		if n.Kind == Scalar {
			return n.At.Blame(f.path, p.UnmarshalText([]byte(n.Text)))
		}
	}
	if n.Kind == Null {
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map, reflect.String:
			v.SetZero()
			return nil
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		if setDefaults(p); !v.IsNil() {
			p.Elem().Set(v.Elem())
		}
		v.Set(p)
		return n.decode(p.Elem(), f)
	case reflect.Struct:
		return n.decodeStruct(v, f)
	case reflect.Slice, reflect.Array:
		return n.decodeList(v, f)
	case reflect.Map:
		return n.decodeMap(v, f)
	case reflect.Interface:
		return n.decodeAny(v, f)
	}
	return n.decodeScalar(v, f)
}

// setDefaults sets the target of the pointer p to the defaults of its type.
func setDefaults(p reflect.Value) {
	if own, ok := p.Interface().(interface{ SetDefaults() }); ok {
		own.SetDefaults()
	}
}

func (n *Node) mismatch(v reflect.Value, f field) error {
	doc := f.doc
	if unit := UnitOf(doc); unit != NoUnit && v.Kind() == reflect.Float64 {
		doc += "; " + unit.Want()
	}
	return n.At.Fail(f.path, "found %s, want %s", n.Found(), withDoc(want(v.Type(), f.rule), doc))
}

func (n *Node) decodeStruct(v reflect.Value, f field) error {
	if n.Kind != Mapping {
		return n.mismatch(v, f)
	}
	known, others := FieldsOf(v.Type()), &Node{Kind: Mapping, At: n.At}
	rest := restOf(v.Type())
	for i, k := range n.Keys {
		switch {
		case known.Find(k.Name) != nil:
		case rest != nil:
			others.Keys, others.Items = append(others.Keys, k), append(others.Items, n.Items[i])
		default:
			return k.At.Fail(Join(f.path, plugin.Clip(k.Name)), "unknown field, %s", plugin.OneOf(k.Name, known.Names()))
		}
	}
	if len(others.Keys) > 0 {
		if err := others.decodeMap(v.FieldByIndex(rest), f); err != nil {
			return err
		}
	}
	for _, s := range known {
		if item := n.Get(s.Name); item != nil {
			if err := item.decode(v.FieldByIndex(s.Index), field{Join(f.path, s.Name), s.Rule, s.Doc}); err != nil {
				return err
			}
		}
	}
	return nil
}

// decodeList requires as many elements as an array has.
func (n *Node) decodeList(v reflect.Value, f field) error {
	if n.Kind != List {
		return n.mismatch(v, f)
	}
	out := v
	if v.Kind() == reflect.Slice {
		out = reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items))
	} else if len(n.Items) != v.Len() {
		return n.At.Fail(f.path, "found a list of %d, want %s", len(n.Items), withDoc(want(v.Type(), f.rule), f.doc))
	}
	rule := RuleOf(f.rule).Elements
	for i, item := range n.Items {
		setDefaults(out.Index(i).Addr())
		if err := item.decode(out.Index(i), field{Join(f.path, item.Segment(i)), rule, f.doc}); err != nil {
			return err
		}
	}
	v.Set(out)
	return nil
}

func (n *Node) decodeMap(v reflect.Value, f field) error {
	if n.Kind != Mapping {
		return n.mismatch(v, f)
	}
	out := reflect.MakeMapWithSize(v.Type(), len(n.Keys))
	for i, k := range n.Keys {
		item := reflect.New(v.Type().Elem()).Elem()
		if err := n.Items[i].decode(item, field{path: Join(f.path, plugin.Clip(k.Name))}); err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(k.Name).Convert(v.Type().Key()), item)
	}
	v.Set(out)
	return nil
}

var (
	number = regexp.MustCompile(`^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
	digits = regexp.MustCompile(`^[-+]?[0-9]+$`)
	point  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,63}(@[A-Za-z0-9.+,-]+)?$`) // a word, or the name of a point of a sweep
)

// decodeAny sets v to a string, a bool, an int64, uint64 or float64, a []any or a
// map[string]any.
func (n *Node) decodeAny(v reflect.Value, f field) error {
	var out any = n.Text
	set := func(x any) error {
		p := reflect.New(reflect.TypeOf(x))
		err := n.decode(p.Elem(), f)
		out = p.Elem().Interface()
		return err
	}
	var err error
	switch {
	case n.Kind == List:
		err = set([]any{})
	case n.Kind == Mapping:
		err = set(map[string]any{})
	case n.Quoted:
	case n.Text == "true" || n.Text == "false":
		out = n.Text == "true"
	case digits.MatchString(n.Text) && set(int64(0)) == nil:
	case digits.MatchString(n.Text) && set(uint64(0)) == nil:
	case number.MatchString(n.Text):
		err = set(float64(0))
	}
	v.Set(reflect.ValueOf(out))
	return err
}

func (n *Node) decodeScalar(v reflect.Value, f field) error {
	x, err := strconv.ParseFloat(n.Text, 64)
	ok := n.Kind == Scalar && !n.Quoted && err == nil && number.MatchString(n.Text)
	whole := ok && x == math.Trunc(x) && math.Abs(x) <= 1<<53 // also true for whole numbers written as 3.0 or 1e3
	switch {
	case v.Kind() == reflect.String:
		v.SetString(n.Text)
		ok = n.Kind == Scalar
	case v.Kind() == reflect.Bool:
		v.SetBool(n.Text == "true")
		ok = !n.Quoted && (n.Text == "true" || n.Text == "false")
	case v.CanInt():
		i, err := strconv.ParseInt(n.Text, 10, 64)
		if err != nil && whole {
			i, err = int64(x), nil
		}
		v.SetInt(i)
		ok = ok && err == nil && v.Int() == i
	case v.CanUint():
		u, err := strconv.ParseUint(strings.TrimPrefix(n.Text, "+"), 10, 64)
		if err != nil && whole && x >= 0 {
			u, err = uint64(x), nil
		}
		v.SetUint(u)
		ok = ok && err == nil && v.Uint() == u
	case v.CanFloat():
		if unit := UnitOf(f.doc); !ok && n.Kind == Scalar && unit != NoUnit {
			x, ok = unit.Parse(n.Text)
		}
		v.SetFloat(x)
	default:
		panic("config: cannot decode a " + v.Type().String())
	}
	if !ok {
		return n.mismatch(v, f)
	}
	return nil
}

// Of converts a Go value to a Node: numbers, booleans, text, lists, maps by text and structs
// with yaml tags. It is the inverse of [Node.Decode]. It omits empty maps of a struct, and empty
// lists whose rule is omitempty. A type may define its own form with a method Node() *Node.
func Of(v any) *Node { return of(reflect.ValueOf(v)) }

func of(v reflect.Value) *Node {
	if !v.IsValid() {
		return &Node{}
	}
	if own, ok := v.Interface().(interface{ Node() *Node }); ok && (v.Kind() != reflect.Pointer || !v.IsNil()) {
		return own.Node()
	}
	switch {
	case v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer:
		return of(v.Elem())
	case v.Kind() == reflect.String:
		return Text(v.String())
	case v.Kind() == reflect.Bool:
		return &Node{Kind: Scalar, Text: strconv.FormatBool(v.Bool())}
	case v.CanInt():
		return &Node{Kind: Scalar, Text: strconv.FormatInt(v.Int(), 10)}
	case v.CanUint():
		return &Node{Kind: Scalar, Text: strconv.FormatUint(v.Uint(), 10)}
	case v.CanFloat():
		return &Node{Kind: Scalar, Text: decimal(v.Float())}
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		n := &Node{Kind: List}
		for i := range v.Len() {
			n.Items = append(n.Items, of(v.Index(i)))
		}
		return n
	}
	n := &Node{Kind: Mapping}
	if v.Kind() == reflect.Map {
		names := v.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, name := range names {
			n = n.PutKey(Key{Name: name.String()}, of(v.MapIndex(name)))
		}
		return n
	}
	for _, f := range FieldsOf(v.Type()) { // panics for types that no file can represent
		value := v.FieldByIndex(f.Index)
		omit := value.Kind() == reflect.Map || value.Kind() == reflect.Slice && RuleOf(f.Rule).Omit
		if !omit || value.Len() > 0 {
			n = n.PutKey(Key{Name: f.Name, Doc: f.Doc}, of(value))
		}
	}
	if rest := restOf(v.Type()); rest != nil {
		others := of(v.FieldByIndex(rest))
		for i, k := range others.Keys {
			n = n.PutKey(k, others.Items[i])
		}
	}
	return n
}

// decimal formats x so that other YAML readers also read a number: some read 8e+09 as text.
func decimal(x float64) string {
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if strings.Contains(text, "e+") && math.Abs(x) < 1e21 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return text
}
