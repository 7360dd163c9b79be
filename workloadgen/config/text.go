package config

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// YAML returns n as a file. It describes each field where it first appears.
func (n *Node) YAML() []byte {
	p := printer{described: map[Key]bool{}}
	if len(n.Items) == 0 {
		p.WriteString(n.Flow() + "\n")
	} else {
		p.block(n, "", "")
	}
	return p.Bytes()
}

// A printer prints each element of a list or mapping on a separate line.
type printer struct {
	bytes.Buffer
	described map[Key]bool
}

// block prints the elements of n, each after indent. If lead is not empty, it replaces the
// indent of the first element.
func (p *printer) block(n *Node, lead, indent string) {
	for i, item := range n.Items {
		if i > 0 || lead == "" {
			lead = indent
		}
		head, note := "-", ""
		if n.Kind == Mapping {
			k := n.Keys[i]
			head = quote(k.Name, plainKey) + ":"
			if doc := (Key{Name: k.Name, Doc: k.Doc}); k.Doc != "" && !p.described[doc] {
				p.described[doc] = true
				note = "# " + k.Doc
			}
		}
		if note != "" && (item.Kind == List || item.Kind == Mapping) {
			p.WriteString(lead + note + "\n")
			lead, note = indent, ""
		}
		p.WriteString(lead + head)
		switch {
		case item.inline():
			p.WriteString(strings.TrimRight(" "+item.Flow()+" "+note, " ") + "\n")
		case n.Kind == List:
			p.block(item, " ", indent+"  ")
		default:
			p.WriteString("\n")
			p.block(item, "", indent+"  ")
		}
	}
}

// inline reports whether n is a scalar, or a list of scalars.
func (n *Node) inline() bool {
	return len(n.Items) == 0 || n.Kind == List && !slices.ContainsFunc(n.Items, func(item *Node) bool { return item.Kind != Scalar })
}

// Flow returns n as YAML in one line.
func (n *Node) Flow() string {
	return n.flow(func(s string) string { return quote(s, plainKey) }, func(n *Node) string {
		if n.Quoted {
			return quote(n.Text, plainWord)
		}
		return n.Text
	})
}

// JSON returns n as JSON.
func (n *Node) JSON() []byte {
	return []byte(n.flow(jsonText, func(n *Node) string {
		switch {
		case n.Quoted || !number.MatchString(n.Text) && !json.Valid([]byte(n.Text)):
			return jsonText(n.Text)
		case !json.Valid([]byte(n.Text)): // such as .5
			x, _ := strconv.ParseFloat(n.Text, 64)
			return strconv.FormatFloat(x, 'g', -1, 64)
		}
		return n.Text
	}))
}

func jsonText(s string) string {
	text, _ := json.Marshal(s) // cannot fail for text
	return string(text)
}

// flow returns n in one line, with the given forms of keys and scalars.
func (n *Node) flow(key func(string) string, scalar func(*Node) string) string {
	if n.Kind == Null {
		return "null"
	}
	if n.Kind == Scalar {
		return scalar(n)
	}
	parts, ends := make([]string, len(n.Items)), "[]"
	for i, item := range n.Items {
		parts[i] = item.flow(key, scalar)
		if n.Kind == Mapping {
			parts[i] = key(n.Keys[i].Name) + ": " + parts[i]
		}
	}
	if n.Kind == Mapping {
		ends = "{}"
	}
	return ends[:1] + strings.Join(parts, ", ") + ends[1:]
}

// These expressions match text that needs no quotes, as a value and as a key.
var (
	plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,63}$`)
	plainKey  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)
)

// quote returns text in quotes, unless it is plain and every reader interprets it as text.
func quote(s string, plain *regexp.Regexp) string {
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf", "infinity":
	default:
		if plain.MatchString(s) {
			return s
		}
	}
	return strconv.Quote(strings.ToValidUTF8(s, "\ufffd"))
}
