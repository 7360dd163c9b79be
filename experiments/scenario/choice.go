package scenario

import (
	"bourse/workloadgen/plugin"
	"reflect"
	"slices"
)

// A Choice names a plug-in and carries its options. A file writes the bare
// name, or a mapping:
//
//	admission: [be, {name: cac, capacity: static, label: printed}, {name: edf, sharing: exclusive}]
//
// Options in a mapping of their own are read too, as [plugin.Spec] has them.
type Choice struct {
	Name  string
	Label string // tells apart two choices of one plug-in in result tables; Name by default

	// Sharing, of an admission policy, is the rule that shares hosts under it, in
	// place of the market's; nil otherwise.
	Sharing *Choice

	// Negotiate, of an admission policy, is what users do whose requests it would refuse:
	// [Rational] and [Impatient] ones take offers. Empty, or [Never]: none is made.
	Negotiate string

	path    string // of the field, for messages
	at      place
	options *node // nil where there are none
}

// Users to whom offers are made.
const (
	Never     = "never"
	Rational  = "rational"
	Impatient = "impatient"
)

// Named returns the choice of a plug-in with its default options.
func Named(name string) Choice { return Choice{Name: name, Label: name} }

// Want says what a file may write.
func (Choice) Want() string { return plugin.Spec{}.Want() }

// Decode fills in v, a pointer to the plug-in's own options, and leaves alone
// what the file does not say. It refuses unknown fields and what is no finite
// number; an [Error] says where.
func (c Choice) Decode(v any) error {
	return Options{c.path, c.options}.Decode(v)
}

// Blame puts what a plug-in says of its options, such as a value that it
// cannot take, in the form of an [Error] that says where they stand. What has
// that form already, or is nil, is left as it is, and so is all that is said of
// a choice made in code.
func (c Choice) Blame(err error) error { return blame(c.at, c.path, err) }

// resolved returns c with its option file, if that is a path, joined to the folder of the
// file that says it.
func (c *Choice) resolved() *Choice {
	file := c.options.get("file")
	if file == nil || file.kind != scalar {
		return c
	}
	at, out := *file, *c
	at.text = file.relative(file.text)
	out.options = c.options.put("file", &at)
	return &out
}

// Options returns what the file says beside name, label and sharing, as plain values.
func (c Choice) Options() map[string]any {
	out := map[string]any{}
	if c.options != nil {
		// What decodes as a scenario decodes as plain values: it has been read.
		_ = decode(c.options, reflect.ValueOf(&out).Elem(), field{path: c.path})
	}
	return out
}

// decodeChoice reads a name or a mapping. A mapping without a name gives
// options to the plug-in that c names already.
func decodeChoice(n *node, c *Choice, f field) error {
	name := n
	if n.kind == mapping {
		name = n.get("name")
	}
	if name != nil {
		if err := decode(name, reflect.ValueOf(&c.Name).Elem(), f); err != nil {
			return err
		}
		c.Label = c.Name
	}
	if c.Name == "" {
		return fail(n.at, f.path, "found %s without a name, want a name, or a mapping of name and options", n.found())
	}
	c.path, c.at, c.options, c.Sharing, c.Negotiate = f.path, n.at, nil, nil, ""
	if n.kind != mapping {
		return nil
	}
	if label := n.get("label"); label != nil {
		if err := decode(label, reflect.ValueOf(&c.Label).Elem(), field{path: join(f.path, "label")}); err != nil {
			return err
		}
	}
	if sharing := n.get("sharing"); sharing != nil {
		c.Sharing = new(Choice)
		if err := decodeChoice(sharing, c.Sharing, field{path: join(f.path, "sharing")}); err != nil {
			return err
		}
	}
	if negotiate := n.get("negotiate"); negotiate != nil {
		at := field{path: join(f.path, "negotiate")}
		if err := decode(negotiate, reflect.ValueOf(&c.Negotiate).Elem(), at); err != nil {
			return err
		}
		if users := []string{Never, Rational, Impatient}; !slices.Contains(users, c.Negotiate) {
			return fail(negotiate.at, at.path, "found %q, %s", clip(c.Negotiate), OneOf(c.Negotiate, users))
		}
	}
	rest := n.without("name", "label", "sharing", "negotiate")
	if apart := rest.get("options"); apart != nil {
		if len(rest.keys) > 1 || apart.kind == scalar || apart.kind == list {
			return fail(apart.at, join(f.path, "options"), "found %s, want a mapping of options alone, or the options beside the name", apart.found())
		}
		rest = apart
	}
	if len(rest.keys) > 0 {
		c.options = rest
	}
	return nil
}

// node returns what a file would say: the bare name where that is all.
func (c Choice) node() *node {
	n := text(c.Name)
	if c.options == nil && c.Sharing == nil && c.Negotiate == "" && (c.Label == "" || c.Label == c.Name) {
		return n
	}
	n = wrap(n)
	if c.Label != "" && c.Label != c.Name {
		n = n.put("label", text(c.Label))
	}
	if c.Sharing != nil {
		n = n.put("sharing", c.Sharing.node())
	}
	if c.Negotiate != "" {
		n = n.put("negotiate", text(c.Negotiate))
	}
	if c.options != nil {
		n = mergeFields(n, c.options)
	}
	return n
}
