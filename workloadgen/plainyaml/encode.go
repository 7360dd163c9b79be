package plainyaml

import (
	"bytes"
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
	var b bytes.Buffer
	if len(n.items) == 0 {
		b.WriteString(n.scalar() + "\n")
	} else {
		n.write(&b, "", "")
	}
	return b.Bytes(), nil
}

// write writes the elements of n, each after an indent; the first after lead, which
// takes its place.
func (n *node) write(b *bytes.Buffer, lead, indent string) {
	for i, item := range n.items {
		if i > 0 || lead == "" {
			lead = indent
		}
		b.WriteString(lead)
		inner, gap := indent+"  ", " "
		if n.kind == list {
			b.WriteString("-")
		} else {
			b.WriteString(word(n.keys[i]) + ":")
		}
		switch {
		case len(item.items) == 0:
			b.WriteString(gap + item.scalar() + "\n")
		case n.kind == list:
			item.write(b, " ", inner)
		case item.kind == list:
			b.WriteString("\n")
			item.write(b, "", indent)
		default:
			b.WriteString("\n")
			item.write(b, "", inner)
		}
	}
}

// scalar returns what has no elements.
func (n *node) scalar() string {
	switch s, isText := n.value.(string); {
	case n.kind == list:
		return "[]"
	case n.kind == mapping:
		return "{}"
	case isText:
		return word(s)
	}
	text, err := yaml.Marshal(n.value)
	if err != nil {
		panic("plainyaml: " + err.Error()) // of a number, a truth or nothing
	}
	return strings.TrimSuffix(string(text), "\n")
}

// word returns a text, in quotes of our own if the encoder's do not bring it back.
func word(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	var back map[string]string
	if text, err := yaml.Marshal(s); err == nil && !strings.ContainsAny(s, "\r\n") {
		plain := strings.TrimSuffix(string(text), "\n")
		if Unmarshal([]byte(plain+": "+plain), &back) == nil && len(back) == 1 && back[s] == s && !Unclear(plain) && !number.MatchString(plain) {
			return plain
		}
	}
	return strconv.QuoteToASCII(s)
}
