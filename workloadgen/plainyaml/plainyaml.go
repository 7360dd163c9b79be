// Package plainyaml refuses YAML that its readers take for different things.
//
// It knows texts and their trees, and not what any field is for.
//
// # Design
//
// YAML has two versions in use and many readers, none of which reads all of either:
// 017 is 15 or 17, yes is true or a word, and a tab or a second document is a mistake
// to one reader and nothing to another. So two readers that share no code read every
// text, and what they do not agree on is refused, as is a plain word that YAML 1.1
// takes for a truth, a number or a date. A list of what readers are known to differ on
// was tried first; it never ended.
package plainyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
	second "go.yaml.in/yaml/v4"

	"bourse/workloadgen/config"
)

// An Error says where readers differ.
type Error = config.Error

// Unmarshal decodes a text that all readers take for the same into out, a pointer.
// Fields that out does not have and keys that come twice are errors, as is a fraction
// where a whole number is wanted, or a text where a number is. The text must be short
// and not nested deeply, or it takes for ever.
//
// Types may decode themselves, by UnmarshalYAML(func(any) error) error.
func Unmarshal(text []byte, out any) (err error) {
	defer func() {
		if p := recover(); p != nil { // of a reader, on what it should refuse
			err = fmt.Errorf("not YAML: %v", p)
		}
	}()
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	file, err := parser.Parse(lexer.Tokenize(string(text)), 0)
	if err != nil {
		return complaint(err)
	}
	content, err := compare(text, file, true)
	if content == nil || err != nil {
		return err
	}
	n, err := read(content, "")
	if err != nil {
		return err
	}
	return n.Decode(out)
}

// Line returns the line of what stands at a path of a text, written as the Field of an
// [Error] is, or else of the nearest thing above it; 0 if the text cannot be read.
func Line(text []byte, path string) int {
	var doc second.Node
	if err := second.Unmarshal(text, &doc); err != nil || len(doc.Content) == 0 {
		return 0
	}
	at := doc.Content[0]
	for segment := range strings.SplitSeq(path, ".") {
		next := below(at, segment)
		if next == nil {
			break
		}
		at = next
	}
	return at.Line
}

// below returns what n has under a key, or at a place of a list, nil if nothing.
func below(n *second.Node, segment string) *second.Node {
	switch n.Kind {
	case second.SequenceNode:
		if i, err := strconv.Atoi(segment); err == nil && i < len(n.Content) {
			return n.Content[i]
		}
	case second.MappingNode:
		for pair := range slices.Chunk(n.Content, 2) {
			if pair[0].Value == segment {
				return pair[1]
			}
		}
	}
	return nil
}

// complaint puts what the first reader says of a text in our form.
func complaint(err error) error {
	e := &Error{Problem: "not YAML: " + err.Error()}
	var y yaml.Error
	if errors.As(err, &y) && y.GetToken() != nil {
		p := y.GetToken().Position
		e.Line, e.Column, e.Problem = p.Line, p.Column, "not YAML: "+y.GetMessage()
	}
	return e
}

// read returns what stands at a path as ours.
func read(m *second.Node, path string) (*config.Node, error) {
	n := &config.Node{Line: m.Line, Column: m.Column}
	switch m.Kind {
	case second.SequenceNode:
		n.Kind = config.List
		for i, c := range m.Content {
			item, err := read(c, config.Join(path, strconv.Itoa(i)))
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, item)
		}
		return n, nil
	case second.MappingNode:
		n.Kind = config.Mapping
		for i := 0; i < len(m.Content); i += 2 {
			k := m.Content[i].Value
			item, err := read(m.Content[i+1], config.Join(path, config.Clip(k)))
			if err != nil {
				return nil, err
			}
			n.Keys, n.Items = append(n.Keys, k), append(n.Items, item)
		}
		return n, nil
	}
	quoted := m.Style&inQuotes != 0
	if !quoted && m.ShortTag() == "!!null" {
		return n, nil
	}
	n.Kind, n.Text, n.Value = config.Scalar, m.Value, m.Value
	switch {
	case quoted:
	case m.Value == "true" || m.Value == "false":
		n.Value = m.Value == "true"
	case whole.MatchString(m.Value):
		if x, err := strconv.ParseInt(m.Value, 10, 64); err == nil {
			n.Value = x
			break
		}
		if x, err := strconv.ParseUint(strings.TrimPrefix(m.Value, "+"), 10, 64); err == nil {
			n.Value = x
			break
		}
		fallthrough
	case number.MatchString(m.Value):
		x, err := strconv.ParseFloat(m.Value, 64)
		if err != nil {
			return nil, n.Fail(path, "found %s, want a number within the range of float64", config.Clip(m.Value))
		}
		n.Value = x
	}
	return n, nil
}

// Agree returns an [Error] if another reader takes the text, without a byte order
// mark, for something else than file, or refuses it; nil if both find the same words
// in the same places. Whether they take a word for the same is told by [Unclear].
func Agree(text []byte, file *ast.File) error {
	_, err := compare(text, file, false)
	return err
}

// Unclear reports whether readers take a word without quotes for different things: one
// for a truth, a number or a date, another for text or another number. Like most
// readers, it takes y and n for text.
func Unclear(word string) bool {
	if number.MatchString(word) || word == "true" || word == "false" {
		return false
	}
	return older.MatchString(word) || spaced.MatchString(word) && older.MatchString(strings.ReplaceAll(word, "_", ""))
}

// UnclearKey is Unclear of a key. Keys are names, so on is taken for one, as YAML 1.2
// does, though YAML 1.1 takes it for a truth there too.
//
// A number is taken for its words too: 1.0, which is 1 to some, is unclear.
func UnclearKey(word string) bool {
	if number.MatchString(word) {
		x, err := strconv.ParseFloat(word, 64)
		return err != nil || strconv.FormatFloat(x, 'f', -1, 64) != word
	}
	return Unclear(word) && !truth.MatchString(word)
}

// Problem says what is wrong with a word that is [Unclear].
func Problem(word string) string {
	return fmt.Sprintf("found %s, which YAML readers interpret differently: want digits such as 1000 or 0.5, true or false, or quotes around text", config.Clip(word))
}

// compare returns what the second reader finds in the text, nil if nothing, or where it
// differs from file; if words, also over what a word is.
func compare(text []byte, file *ast.File, words bool) (*second.Node, error) {
	if err := tabs(text); err != nil {
		return nil, err
	}
	var bodies []ast.Node
	for _, d := range file.Docs {
		if d.Body != nil {
			bodies = append(bodies, d.Body)
		}
	}
	if len(bodies) > 1 {
		return nil, unlike(bodies[1], "", "found a second document, want one")
	}
	d := second.NewDecoder(bytes.NewReader(text))
	var doc, more second.Node
	err := d.Decode(&doc)
	if errors.Is(err, io.EOF) && len(bodies) == 0 {
		return nil, nil
	}
	if err == nil {
		if err = d.Decode(&more); err == nil {
			return nil, &Error{Line: more.Line, Column: more.Column, Problem: "found a second document, want one"}
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, refused(err)
	}
	if len(doc.Content) != 1 {
		return nil, &Error{Problem: "found text that YAML readers interpret differently, want one document"}
	}
	var body ast.Node
	if len(bodies) > 0 {
		body = bodies[0]
	}
	return doc.Content[0], comparison{words}.same(body, doc.Content[0], "")
}

// tabs refuses one outside of a comment: readers differ on where it may stand.
func tabs(text []byte) error {
	at := 0
	for line := range bytes.Lines(text) {
		at++
		if i := bytes.IndexByte(line, '\t'); i >= 0 && !comment.Match(line[:i]) {
			return &Error{Line: at, Column: i + 1, Problem: `found a tab, want spaces, or \t in double quotes`}
		}
	}
	return nil
}

var comment = regexp.MustCompile(`(^|[ ])#`)

// refused puts what the second reader says of a text in our form.
func refused(err error) error {
	e := &Error{Problem: "not YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}
	var p *second.ParserError
	if errors.As(err, &p) {
		e.Line, e.Problem = p.Line, "not YAML: "+p.Message
	}
	if strings.Contains(e.Problem, "cannot start any token") {
		e.Problem += ": want quotes around it"
	}
	return e
}

func unlike(n ast.Node, path, format string, args ...any) error {
	e := &Error{Field: path, Problem: fmt.Sprintf(format, args...)}
	if n != nil {
		if t := n.GetToken(); t != nil && t.Position != nil {
			e.Line, e.Column = t.Position.Line, t.Position.Column
		}
	}
	return e
}

// A comparison is of the trees of two readers.
type comparison struct{ words bool } // refuse words that are unclear, too

// same compares what stands at a path.
func (c comparison) same(n ast.Node, m *second.Node, path string) error {
	if m.Anchor != "" || m.Kind == second.AliasNode || m.Style&second.TaggedStyle != 0 {
		return unlike(n, path, "found an anchor, an alias or a tag, want plain YAML")
	}
	switch n := n.(type) {
	case *ast.MappingValueNode:
		return c.sameMapping(n, []*ast.MappingValueNode{n}, m, path)
	case *ast.MappingNode:
		return c.sameMapping(n, n.Values, m, path)
	case *ast.SequenceNode:
		if m.Kind != second.SequenceNode || len(n.Values) != len(m.Content) {
			return unlike(n, path, "found a list of %d, which another YAML reader interprets as %s", len(n.Values), kindOf(m))
		}
		for i, v := range n.Values {
			if err := c.same(v, m.Content[i], config.Join(path, strconv.Itoa(i))); err != nil {
				return err
			}
		}
		return nil
	}
	return c.sameScalar(n, m, path)
}

func (c comparison) sameMapping(n ast.Node, values []*ast.MappingValueNode, m *second.Node, path string) error {
	if m.Kind != second.MappingNode || 2*len(values) != len(m.Content) {
		return unlike(n, path, "found a mapping of %d, which another YAML reader interprets as %s", len(values), kindOf(m))
	}
	seen := make(map[string]bool, len(values))
	for i, v := range values {
		key, value := m.Content[2*i], m.Content[2*i+1]
		field := config.Join(path, config.Clip(key.Value))
		if err := (comparison{}).same(v.Key, key, field); err != nil {
			return err
		}
		if c.words && key.Style&inQuotes == 0 && UnclearKey(key.Value) {
			return unlike(v.Key, field, "%s", Problem(key.Value))
		}
		if key.Kind != second.ScalarNode || c.words && key.ShortTag() == "!!null" {
			return unlike(v.Key, field, "found a key that is %s, want a word", kindOf(key))
		}
		if seen[key.Value] {
			return unlike(v.Key, field, "found twice")
		}
		seen[key.Value] = true
		if err := c.same(v.Value, value, field); err != nil {
			return err
		}
	}
	return nil
}

const inQuotes = second.SingleQuotedStyle | second.DoubleQuotedStyle | second.LiteralStyle | second.FoldedStyle

func (c comparison) sameScalar(n ast.Node, m *second.Node, path string) error {
	text, quoted := "", false
	switch n := n.(type) {
	case nil, *ast.NullNode:
		if m.Kind != second.ScalarNode || m.ShortTag() != "!!null" {
			return unlike(n, path, "found nothing, which another YAML reader interprets as %s", kindOf(m))
		}
		return nil
	case *ast.StringNode:
		text, quoted = n.Value, n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType
	case *ast.LiteralNode:
		text, quoted = n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		text = n.GetToken().Value
	default:
		return unlike(n, path, "found %s, want plain YAML", n.Type())
	}
	if m.Kind != second.ScalarNode || text != m.Value || quoted != (m.Style&inQuotes != 0) {
		return unlike(n, path, "found %.40q, which another YAML reader interprets as %s: want text in quotes", text, kindOf(m))
	}
	if c.words && !quoted && Unclear(text) {
		return unlike(n, path, "%s", Problem(text))
	}
	return nil
}

func kindOf(m *second.Node) string {
	switch m.Kind {
	case second.MappingNode:
		return fmt.Sprintf("a mapping of %d", len(m.Content)/2)
	case second.SequenceNode:
		return fmt.Sprintf("a list of %d", len(m.Content))
	case second.ScalarNode:
		return strconv.Quote(config.Clip(m.Value))
	}
	return "an alias"
}

// number matches what every reader takes for the same decimal number. (A few take 1e3,
// without a point, for text; none for another number.)
var number = regexp.MustCompile(`^[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|[0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`)

// truth matches what is a truth in YAML 1.1.
var truth = regexp.MustCompile(`^(?i:yes|no|true|false|on|off)$`)

var whole = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)

// spaced matches words that some readers take for numbers once every _ is left out.
var spaced = regexp.MustCompile(`^[-+.0-9].*_`)

// older matches what is no text in YAML 1.1 (https://yaml.org/type) or 1.2.
var older = regexp.MustCompile(`^((?i:yes|no|true|false|on|off)|<<|=` +
	`|[-+]?0[bB][01_]+|[-+]?0[oO]?[0-7_]+|[-+]?0[xX][0-9a-fA-F_]+` +
	`|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])*(\.[0-9_]*)?([eE][-+]?[0-9]+)?|[-+]?\.[0-9_]*([eE][-+]?[0-9]+)?` +
	`|[-+]?\.(?i:inf|nan)` +
	`|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?)$`)
