package plainyaml

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
)

// Marshal returns v, of what [Decode] takes, as a text that reads back the same.
func Marshal(v any) ([]byte, error) {
	n, err := nodeOf(reflect.ValueOf(v))
	if err != nil {
		return nil, err
	}
	return yaml.MarshalWithOptions(n.yaml())
}

// yaml returns n as the YAML encoder takes it.
func (n *node) yaml() any {
	switch n.kind {
	case list:
		out := make([]any, len(n.items))
		for i, item := range n.items {
			out[i] = item.yaml()
		}
		return out
	case mapping:
		out := make(yaml.MapSlice, len(n.items))
		for i, item := range n.items {
			out[i] = yaml.MapItem{Key: n.keys[i], Value: item.yaml()}
		}
		return out
	}
	if s, ok := n.value.(string); ok {
		return word(s)
	}
	return n.value
}

// word returns a text, in quotes of our own if the encoder's do not bring it back.
func word(s string) any {
	s = strings.ToValidUTF8(s, "\ufffd")
	var back any
	if text, err := yaml.Marshal(s); err == nil && !strings.ContainsAny(s, "\r\n") && Unmarshal(text, &back) == nil && back == s {
		return s
	}
	return verbatim(strconv.QuoteToASCII(s))
}

// A verbatim is YAML already.
type verbatim string

// MarshalYAML implements [yaml.BytesMarshaler].
func (v verbatim) MarshalYAML() ([]byte, error) { return []byte(v), nil }
