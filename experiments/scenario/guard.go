package scenario

import (
	"bytes"
	"unicode/utf8"

	"github.com/goccy/go-yaml/token"
)

// Limits of a file. The YAML parser takes time quadratic in the depth and in the number of
// keys of a mapping, minutes for a megabyte. Both are therefore limited before parsing.
const (
	maxBytes  = 1 << 20
	maxDepth  = 64
	maxIndent = 256
	maxTokens = 20_000 // a configuration with every field has about 150
)

// guard rejects a file that is not text, too large or too deep. It makes one pass over the
// bytes and stops at the first problem.
//
// It counts all brackets, quoted or not, so it also rejects text with 64 unclosed brackets.
// Quoted brackets that seem to close others are handled by [guardTokens].
func guard(source string, data []byte) error {
	at := func(i int) place {
		return place{source, 1 + bytes.Count(data[:i], []byte("\n")), i - bytes.LastIndexByte(data[:i], '\n')}
	}
	if len(data) > maxBytes {
		return fail(place{source: source}, "", "%d bytes, want at most %d", len(data), maxBytes)
	}
	depth, indent, leading := 0, 0, true
	for i, c := range data {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		}
		switch {
		case c == '\n':
			indent, leading = 0, true
			continue
		case c < ' ' && c != '\t' && c != '\r':
			return fail(at(i), "", "found the byte %#02x, want a text file", c)
		case leading && (c == ' ' || c == '-' || c == '?'):
			indent++
		default:
			leading = false
		}
		if depth > maxDepth {
			return fail(at(i), "", "nested more than %d deep", maxDepth)
		}
		if indent > maxIndent {
			return fail(at(i), "", "indented by more than %d", maxIndent)
		}
	}
	if !utf8.Valid(data) {
		return fail(place{source: source}, "", "found bytes that are not UTF-8, want a text file")
	}
	return nil
}

// guardTokens rejects YAML features that scenario files do not need: anchors, aliases (which
// can expand without bound), tags, merge keys and directives. It also limits nesting and size.
func guardTokens(source string, tokens token.Tokens) error {
	if len(tokens) > maxTokens {
		return fail(place{source: source}, "", "%d words and signs, want at most %d", len(tokens), maxTokens)
	}
	depth := 0
	for _, t := range tokens {
		at := place{source, t.Position.Line, t.Position.Column}
		switch t.Type {
		case token.AnchorType, token.AliasType:
			return fail(at, "", "found %s, want no anchors or aliases: put shared settings in base", t.Value)
		case token.TagType, token.MergeKeyType, token.DirectiveType:
			return fail(at, "", "found %s, want no tags, merge keys and directives", t.Value)
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		}
		if depth > maxDepth {
			return fail(at, "", "nested more than %d deep", maxDepth)
		}
	}
	return nil
}
