package scenario

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"bourse/workloadgen/plainyaml"
)

// read parses one YAML document. An empty document gives a null node.
func read(source string, data []byte) (*node, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // byte order mark
	if err := guard(source, data); err != nil {
		return nil, err
	}
	tokens := lexer.Tokenize(string(data))
	if err := guardTokens(source, tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, syntax(source, err)
	}
	r := reader{source: source}
	var body ast.Node
	for _, d := range file.Docs {
		if d.Body == nil {
			continue
		}
		if body != nil {
			return nil, fail(r.at(d.Body), "", "found a second document, want one")
		}
		body = d.Body
	}
	if body == nil {
		return &node{at: place{source: source}}, agree(source, data, file)
	}
	n, err := r.node(body, "")
	if err != nil {
		return nil, err
	}
	return n, agree(source, data, file)
}

// agree rejects text that other YAML readers interpret differently.
func agree(source string, data []byte, file *ast.File) error {
	err := plainyaml.Agree(data, file)
	var e *plainyaml.Error
	if errors.As(err, &e) {
		return fail(place{source, e.Line, e.Column}, e.Field, "%s", e.Problem)
	}
	return err
}

// syntax converts an error of the parser to an [Error].
func syntax(source string, err error) error {
	var y yaml.Error
	if errors.As(err, &y) && y.GetToken() != nil {
		p := y.GetToken().Position
		message := y.GetMessage()
		if strings.Contains(message, "character '\t'") {
			message = "found a tab, want spaces"
		}
		return fail(place{source, p.Line, p.Column}, "", "not YAML: %s", message)
	}
	return fail(place{source: source}, "", "not YAML: %v", err)
}

// unclear rejects words at and below a path that YAML readers interpret differently. Numbers
// and booleans have been decoded before, with better messages.
func unclear(n *node, path string) error {
	if n.kind == scalar && !n.quoted && plainyaml.Unclear(n.text) {
		return fail(n.at, path, "%s", plainyaml.Problem(n.text))
	}
	for i, item := range n.items {
		segment := item.segment(strconv.Itoa(i))
		if n.kind == mapping {
			k := n.keys[i]
			segment = clip(k.name)
			if plainyaml.UnclearKey(k.name) { // even in quotes, which are lost when it is printed
				return fail(k.at, join(path, segment), "%s", plainyaml.Problem(k.name))
			}
		}
		if err := unclear(item, join(path, segment)); err != nil {
			return err
		}
	}
	return nil
}

// A reader converts the parser's tree to nodes.
type reader struct{ source string }

func (r reader) at(n ast.Node) place {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0].Key // the token of a block mapping is its first colon
	}
	t := n.GetToken()
	if t == nil || t.Position == nil {
		return place{source: r.source}
	}
	return place{r.source, t.Position.Line, t.Position.Column}
}

func (r reader) node(n ast.Node, path string) (*node, error) {
	at := r.at(n)
	switch n := n.(type) {
	case *ast.NullNode:
		return &node{at: at}, nil
	case *ast.StringNode:
		return &node{kind: scalar, text: n.Value, quoted: quoted(n), at: at}, nil
	case *ast.LiteralNode:
		return &node{kind: scalar, text: n.Value.Value, quoted: true, at: at}, nil
	case *ast.InfinityNode, *ast.NanNode:
		return nil, fail(at, path, "found %s, want a finite number", n.GetToken().Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return &node{kind: scalar, text: n.GetToken().Value, at: at}, nil
	case *ast.MappingValueNode:
		return r.mapping([]*ast.MappingValueNode{n}, at, path)
	case *ast.MappingNode:
		return r.mapping(n.Values, at, path)
	case *ast.SequenceNode:
		return r.list(n, at, path)
	}
	return nil, fail(at, path, "found YAML that scenario files do not support (%s)", n.Type())
}

func quoted(n *ast.StringNode) bool {
	return n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType
}

func (r reader) mapping(values []*ast.MappingValueNode, at place, path string) (*node, error) {
	out := &node{kind: mapping, at: at}
	seen := make(map[string]place, len(values))
	for _, v := range values {
		k := key{at: r.at(v.Key)}
		switch name := v.Key.(type) {
		case *ast.StringNode:
			k.name = name.Value
		default:
			k.name = v.Key.GetToken().Value
		}
		field := join(path, clip(k.name))
		if first, again := seen[k.name]; again {
			return nil, fail(k.at, field, "found twice, first on line %d", first.line)
		}
		seen[k.name] = k.at
		item, err := r.node(v.Value, field)
		if err != nil {
			return nil, err
		}
		if item.kind == null {
			item.at = k.at // the parser gives missing values arbitrary positions
		}
		out.keys = append(out.keys, k)
		out.items = append(out.items, item)
	}
	return out, nil
}

func (r reader) list(n *ast.SequenceNode, at place, path string) (*node, error) {
	out := &node{kind: list, at: at}
	for i, v := range n.Values {
		item, err := r.node(v, join(path, strconv.Itoa(i)))
		if err != nil {
			return nil, err
		}
		out.items = append(out.items, item)
	}
	return out, nil
}
