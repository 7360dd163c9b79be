package scenario

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"bourse/workloadgen/config"
	"bourse/workloadgen/plainyaml"
)

// encode is the inverse of decode.
func encode(v reflect.Value) *node {
	switch v := v.Interface().(type) {
	case Choice:
		return v.node()
	case Options:
		return v.node()
	case Value:
		return &node{kind: scalar, text: string(v), quoted: plainyaml.Unclear(string(v))}
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return &node{}
		}
		return encode(v.Elem())
	case reflect.Struct:
		n := &node{kind: mapping, fields: true}
		for _, f := range config.FieldsOf(v.Type()) {
			n = n.put(f.Name, encode(v.FieldByIndex(f.Index)))
		}
		return n
	case reflect.Slice:
		n := &node{kind: list}
		for i := range v.Len() {
			n.items = append(n.items, encode(v.Index(i)))
		}
		return n
	case reflect.String:
		return text(v.String())
	case reflect.Bool:
		return &node{kind: scalar, text: strconv.FormatBool(v.Bool())}
	case reflect.Int, reflect.Int64:
		return &node{kind: scalar, text: strconv.FormatInt(v.Int(), 10)}
	case reflect.Uint64:
		return &node{kind: scalar, text: strconv.FormatUint(v.Uint(), 10)}
	case reflect.Float64:
		return &node{kind: scalar, text: strconv.FormatFloat(v.Float(), 'g', -1, 64)}
	}
	panic("scenario: cannot print a " + v.Type().String())
}

// text returns a scalar that is a string.
func text(s string) *node { return &node{kind: scalar, text: s, quoted: true} }

// yaml returns n in the form that the YAML encoder expects.
func (n *node) yaml() any {
	switch n.kind {
	case null:
		return nil
	case list:
		if short, ok := n.flow(); ok {
			return short
		}
		out := make([]any, len(n.items))
		for i, item := range n.items {
			out[i] = item.yaml()
		}
		return out
	case mapping:
		out := make(yaml.MapSlice, len(n.items))
		for i, item := range n.items {
			out[i] = yaml.MapItem{Key: n.keys[i].name, Value: item.yaml()}
		}
		return out
	}
	return n.verbatim()
}

// flow returns a list of scalars on one line.
func (n *node) flow() (verbatim, bool) {
	var out []string
	for _, item := range n.items {
		if item.kind != scalar {
			return "", false
		}
		out = append(out, string(item.verbatim()))
	}
	return verbatim("[" + strings.Join(out, ", ") + "]"), true
}

// verbatim returns a scalar in its YAML form, with quotes if it could be read as something
// other than its text.
func (n *node) verbatim() verbatim {
	if !n.quoted || word.MatchString(n.text) && !ambiguous(n.text) {
		return verbatim(n.text)
	}
	quoted, err := json.Marshal(n.text)
	if err != nil {
		panic("scenario: " + err.Error())
	}
	return verbatim(quoted)
}

// ambiguous reports whether some YAML reader interprets a word as something other than text.
func ambiguous(s string) bool {
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf", "infinity":
		return true
	}
	return s[0] >= '0' && s[0] <= '9'
}

// A verbatim is text that is already YAML.
type verbatim string

// MarshalYAML implements [yaml.BytesMarshaler].
func (v verbatim) MarshalYAML() ([]byte, error) { return []byte(v), nil }
