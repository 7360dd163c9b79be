package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// A second reader of the same text: what [read] lets through, it must understand alike.

// second returns what a mapping, list or scalar of text is to another YAML reader: nil,
// a bool, a float64, a string, a []any or a map[string]any.
func second(text []byte) (any, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var n yaml.Node
	if err := d.Decode(&n); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var more yaml.Node
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("a second document follows (%v)", err)
	}
	return secondNode(n.Content[0])
}

func secondNode(n *yaml.Node) (any, error) {
	if n.Anchor != "" || n.Kind == yaml.AliasNode || n.Style&yaml.TaggedStyle != 0 {
		return nil, fmt.Errorf("line %d: an anchor, an alias or a tag", n.Line)
	}
	switch n.Kind {
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, c := range n.Content {
			var err error
			if out[i], err = secondNode(c); err != nil {
				return nil, err
			}
		}
		return out, nil
	case yaml.MappingNode:
		out := make(map[string]any)
		for i := 0; i < len(n.Content); i += 2 {
			k := n.Content[i]
			if k.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("line %d: a key that is no scalar", k.Line)
			}
			if _, err := secondNode(k); err != nil && !slices.Contains([]string{"yes", "no", "on", "off"}, strings.ToLower(k.Value)) {
				return nil, err
			}
			if _, again := out[k.Value]; again {
				return nil, fmt.Errorf("line %d: key %q comes twice", k.Line, k.Value)
			}
			v, err := secondNode(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			out[k.Value] = v
		}
		return out, nil
	}
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return n.Value, nil
	}
	switch tag := n.ShortTag(); tag {
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		err := n.Decode(&b)
		return b, err
	case "!!int", "!!float":
		var x float64
		err := n.Decode(&x)
		return x, err
	case "!!str":
		if older.MatchString(n.Value) {
			return nil, fmt.Errorf("line %d: plain %q, which YAML 1.1 takes for something else", n.Line, n.Value)
		}
		return n.Value, nil
	default:
		return nil, fmt.Errorf("line %d: plain %q, which is %s", n.Line, n.Value, tag)
	}
}

// older matches what YAML 1.1 takes for no text, in the words of its types' pages
// (https://yaml.org/type), but for y and n, which no reader in use takes for a truth.
var older = regexp.MustCompile(`^(?:` +
	`yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF` +
	`|~|null|Null|NULL|<<|=` +
	`|[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+` +
	`|[-+]?(?:[0-9][0-9_]*)?\.[0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*` +
	`|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)` +
	`|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?(?:[Tt]|[ \t]+)[0-9][0-9]?:[0-9]{2}:[0-9]{2}.*` +
	`)$`)

// meaning returns what n is to us, in the terms of [second].
func meaning(n *node) any {
	switch n.kind {
	case null:
		return nil
	case list:
		out := make([]any, len(n.items))
		for i, item := range n.items {
			out[i] = meaning(item)
		}
		return out
	case mapping:
		out := make(map[string]any, len(n.items))
		for i, item := range n.items {
			out[n.keys[i].name] = meaning(item)
		}
		return out
	}
	x, err := decodeAny(n, field{})
	switch v := reflect.ValueOf(x); {
	case err != nil:
		return n.text // a number out of range, which is text to others, and is no number to us
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	}
	return x
}

// unlike returns how two readings of text differ, "" if they do not.
func unlike(n *node, text []byte) string {
	theirs, err := second(text)
	if err != nil {
		return fmt.Sprintf("read as %v, which another reader refuses: %v", meaning(n), err)
	}
	if ours := meaning(n); !reflect.DeepEqual(ours, theirs) {
		return fmt.Sprintf("read as %#v, want %#v", ours, theirs)
	}
	return ""
}
