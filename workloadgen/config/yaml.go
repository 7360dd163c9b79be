package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"bourse/workloadgen/plugin"
)

// maxDepth is the maximum nesting depth of values.
const maxDepth = 64

// Read decodes a file into the pointer out and checks its tags: see [Node.Fill]. Errors call
// the file source.
func Read(source string, text []byte, out any) error {
	n, err := Parse(source, text)
	if err != nil {
		return err
	}
	return n.Fill("", out)
}

// Parse reads one YAML document. An empty document gives a Null node.
func Parse(source string, text []byte) (*Node, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // byte order mark
	if err := plainText(source, text); err != nil {
		return nil, err
	}
	documents, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	var one, other yaml.Node
	if err := documents.Load(&one); err == io.EOF {
		return &Node{At: Place{Source: source}}, nil
	} else if err != nil {
		return nil, syntax(source, err)
	}
	switch err := documents.Load(&other); {
	case err == nil:
		return nil, Place{source, other.Line, other.Column}.Fail("", "found a second document, want one")
	case err != io.EOF:
		return nil, syntax(source, err)
	}
	return reader{source: source, lines: strings.Split(string(text), "\n")}.node(one.Content[0], "", 0)
}

// plainText rejects bytes that are not text, and characters on which readers differ.
func plainText(source string, text []byte) error {
	line := 0
	for row := range bytes.Lines(text) {
		line++
		at, column := Place{source, line, 0}, 0
		if row[0] == '%' {
			at.Column = 1
			return at.Fail("", "found %s, want no directives", plugin.Clip(strings.TrimSpace(string(row))))
		}
		for i, c := range string(row) {
			column++
			at.Column = column
			switch {
			case c == '\t' && !comment.Match(row[:i]):
				return at.Fail("", `found a tab, want spaces, or \t in double quotes`)
			case c < ' ' && c != '\t' && c != '\n' && (c != '\r' || !bytes.HasPrefix(row[i:], []byte("\r\n"))), c == 0x7f:
				return at.Fail("", "found the byte %#02x, want a text file", c)
			case c == utf8.RuneError && !utf8.Valid(row):
				return at.Fail("", "found bytes that are not UTF-8, want a text file")
			case c >= 0x80 && c <= 0x9f || c == '\u2028' || c == '\u2029' || c == '\ufeff' || c == 0xfffe || c == 0xffff:
				return at.Fail("", `found the character %U, want it escaped in double quotes`, c)
			}
		}
	}
	return nil
}

var comment = regexp.MustCompile(`(^|[ ])#`)

// syntax converts an error of the YAML library to an [Error].
func syntax(source string, err error) error {
	var e *yaml.LoadError
	if !errors.As(err, &e) {
		return Place{Source: source}.Fail("", "not YAML: %v", err)
	}
	problem, at := e.Message, e.Mark
	switch {
	case strings.Contains(problem, "cannot start any token"):
		problem += ": want quotes around it"
	case strings.Contains(problem, "end of stream") && e.ContextMark.Line > 0:
		problem, at = "found no end, "+e.ContextMsg, e.ContextMark
	case e.ContextMsg != "" && e.ContextMark.Line > 0:
		problem += fmt.Sprintf(", %s that begins at %d:%d", e.ContextMsg, e.ContextMark.Line, e.ContextMark.Column)
	}
	return Place{source, at.Line, at.Column}.Fail("", "not YAML: %s", problem)
}

// A reader converts the library's tree to nodes.
type reader struct {
	source string
	lines  []string
	flow   bool // in brackets or braces
}

const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

func (r reader) node(m *yaml.Node, path string, depth int) (*Node, error) {
	n := &Node{Text: m.Value, Quoted: m.Style&quoted != 0, At: Place{r.source, m.Line, m.Column}}
	r.flow = r.flow || m.Style&yaml.FlowStyle != 0
	switch {
	case depth > maxDepth:
		return nil, n.At.Fail("", "nested more than %d deep", maxDepth)
	case m.Kind == yaml.AliasNode:
		return nil, n.At.Fail(path, "found *%s, want no anchors or aliases: repeat the value, or put shared settings in a field such as base", plugin.Clip(m.Value))
	case m.Anchor != "":
		return nil, n.At.Fail(path, "found &%s, want no anchors or aliases: repeat the value, or put shared settings in a field such as base", plugin.Clip(m.Anchor))
	case m.Style&yaml.TaggedStyle != 0 || strings.HasPrefix(r.at(n.At), "!"):
		return nil, n.At.Fail(path, "found %s, want no tags", plugin.Clip(strings.Fields(r.at(n.At) + " a tag")[0]))
	case m.Kind == yaml.MappingNode:
		return r.mapping(n, m.Content, path, depth)
	case m.Kind == yaml.SequenceNode:
		n.Kind = List
		for i, c := range m.Content {
			item, err := r.node(c, Join(path, strconv.Itoa(i)), depth+1)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, item)
		}
	case n.Quoted || m.ShortTag() != "!!null":
		n.Kind = Scalar
		switch {
		case n.Quoted:
		case infinite.MatchString(n.Text):
			return nil, n.At.Fail(path, "found %s, want a finite number", n.Text)
		case r.flow && (strings.Contains(n.Text, "?") || strings.HasPrefix(n.Text, ":")):
			return nil, n.At.Fail(path, "found %s in brackets, want quotes around it", plugin.Clip(n.Text))
		}
	}
	return n, nil
}

func (r reader) mapping(n *Node, content []*yaml.Node, path string, depth int) (*Node, error) {
	n.Kind = Mapping
	first := make(map[string]int, len(content)/2) // lines of keys
	for i := 0; i < len(content); i += 2 {
		name, err := r.node(content[i], path, depth+1)
		if err != nil {
			return nil, err
		}
		field := Join(path, plugin.Clip(name.Text))
		switch {
		case name.Kind != Scalar:
			return nil, name.At.Fail(path, "found %s as a key, want a word", name.Found())
		case !r.inOneLine(name):
			return nil, name.At.Fail(field, "found a key in several lines, want it in one")
		case name.Text == "<<" && !name.Quoted:
			return nil, name.At.Fail(field, "found <<, want no merge keys")
		case first[name.Text] > 0:
			return nil, name.At.Fail(field, "found twice, first in line %d", first[name.Text])
		}
		first[name.Text] = name.At.Line
		item, err := r.node(content[i+1], field, depth+1)
		if err != nil {
			return nil, err
		}
		if item.Kind == Null {
			item.At = name.At // a missing value has no position
		}
		n.Keys = append(n.Keys, Key{Name: name.Text, Quoted: name.Quoted, At: name.At})
		n.Items = append(n.Items, item)
	}
	return n, nil
}

// at returns the remaining part of the line from p on.
func (r reader) at(p Place) string {
	if p.Line < 1 || p.Line > len(r.lines) {
		return ""
	}
	text := r.lines[p.Line-1]
	for range p.Column - 1 {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	return text
}

// inOneLine reports whether a key and the colon after it are on one line. Some readers reject
// any other form.
func (r reader) inOneLine(key *Node) bool {
	rest := r.at(key.At)
	if key.Quoted {
		rest = rest[len(inQuotes.FindString(rest)):]
	} else {
		rest = strings.TrimPrefix(rest, key.Text)
	}
	return afterKey.MatchString(rest)
}

var (
	inQuotes = regexp.MustCompile(`^("([^"\\]|\\.)*"|'([^']|'')*')`)
	afterKey = regexp.MustCompile(`^ *[:,}]`)
)

// Unclear returns an [Error] for the first word at or below n, which is at path, that YAML
// readers interpret differently.
func (n *Node) Unclear(path string) error {
	if n.Kind == Scalar && !n.Quoted && unclear(n.Text) {
		return unclearAt(n.At, path, n.Text)
	}
	for i, item := range n.Items {
		segment := item.Segment(i)
		if n.Kind == Mapping {
			k := n.Keys[i]
			segment = plugin.Clip(k.Name)
			if !k.Quoted && unclearKey(k.Name) {
				return unclearAt(k.At, Join(path, segment), k.Name)
			}
		}
		if err := item.Unclear(Join(path, segment)); err != nil {
			return err
		}
	}
	return nil
}

func unclearAt(at Place, path, word string) error {
	return at.Fail(path, "found %s, which YAML readers interpret differently: want digits such as 1000 or 0.5, true or false, or quotes around text", plugin.Clip(word))
}

// unclear reports whether readers interpret a word without quotes differently: some as a
// boolean, a number or a date, others as text or another number. Like most readers, it
// interprets y and n as text.
func unclear(word string) bool {
	if common.MatchString(word) || word == "true" || word == "false" {
		return false
	}
	return older.MatchString(word) || spaced.MatchString(word) && older.MatchString(strings.ReplaceAll(word, "_", ""))
}

// unclearKey does the same as unclear for a key. Keys are names, so the key on is accepted, as
// in YAML 1.2, although YAML 1.1 interprets it as a boolean. Numbers are names too, so the key
// 1.0, which some readers change to 1, is unclear.
func unclearKey(word string) bool {
	if common.MatchString(word) {
		x, err := strconv.ParseFloat(word, 64)
		return err != nil || strconv.FormatFloat(x, 'f', -1, 64) != word
	}
	return unclear(word) && !boolean.MatchString(word)
}

var (
	// common matches text that every reader interprets as the same decimal number. (A few
	// readers interpret 1e3, without a point, as text, but none as another number.)
	common = regexp.MustCompile(`^[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|[0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`)

	boolean  = regexp.MustCompile(`^(?i:yes|no|true|false|on|off)$`) // in YAML 1.1
	infinite = regexp.MustCompile(`^[-+]?\.(?i:inf|nan)$`)
	spaced   = regexp.MustCompile(`^[-+.0-9].*_`) // text that some parsers read as a number without each _

	// older matches text that YAML 1.1 (https://yaml.org/type) or 1.2 does not read as text.
	older = regexp.MustCompile(`^((?i:yes|no|true|false|on|off)|<<|=` +
		`|[-+]?0[bB][01_]+|[-+]?0[oO]?[0-7_]+|[-+]?0[xX][0-9a-fA-F_]+` +
		`|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])*(\.[0-9_]*)?([eE][-+]?[0-9]+)?|[-+]?\.[0-9_]*([eE][-+]?[0-9]+)?` +
		`|[-+]?\.(?i:inf|nan)` +
		`|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?)$`)
)
