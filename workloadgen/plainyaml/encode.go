package plainyaml

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"bourse/workloadgen/config"
)

// Marshal returns v, of what [config.Decode] takes, as a text that reads back the same.
func Marshal(v any) ([]byte, error) {
	n, err := config.NodeOf(reflect.ValueOf(v))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if len(n.Items) == 0 {
		b.WriteString(scalar(n) + "\n")
	} else {
		write(n, &b, "", "")
	}
	return b.Bytes(), nil
}

// write writes the elements of n, each after an indent; the first after lead, which
// takes its place.
func write(n *config.Node, b *bytes.Buffer, lead, indent string) {
	for i, item := range n.Items {
		if i > 0 || lead == "" {
			lead = indent
		}
		b.WriteString(lead)
		inner, gap := indent+"  ", " "
		if n.Kind == config.List {
			b.WriteString("-")
		} else {
			b.WriteString(word(n.Keys[i]) + ":")
		}
		switch {
		case len(item.Items) == 0:
			b.WriteString(gap + scalar(item) + "\n")
		case n.Kind == config.List:
			write(item, b, " ", inner)
		case item.Kind == config.List:
			b.WriteString("\n")
			write(item, b, "", indent)
		default:
			b.WriteString("\n")
			write(item, b, "", inner)
		}
	}
}

// scalar returns what has no elements.
func scalar(n *config.Node) string {
	switch s, isText := n.Value.(string); {
	case n.Kind == config.List:
		return "[]"
	case n.Kind == config.Mapping:
		return "{}"
	case isText:
		return word(s)
	}
	text, err := yaml.Marshal(n.Value)
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
