package scenario

import (
	"bourse/workloadgen/config"
	"reflect"
	"slices"
)

// A Choice names a plug-in and carries its options. A file contains the bare name, or a
// mapping:
//
//	admission: [be, {name: cac, capacity: static, label: printed}, {name: edf, sharing: exclusive}]
//
// Options in a nested mapping are also accepted, as in [config.Spec].
type Choice struct {
	Name  string
	Label string // distinguishes choices of the same plug-in in result tables; Name by default

	// Sharing, for an admission policy, is the sharing rule that replaces the market's;
	// otherwise nil.
	Sharing *Choice

	// Negotiate, for an admission policy, is the behavior of users whose requests would be
	// rejected: [Rational] and [Impatient] users receive offers. If it is empty or [Never], no
	// offers are made.
	Negotiate string

	path    string // of the field, for messages
	at      place
	options *node // nil if there are none
}

// Behavior of users with respect to offers.
const (
	Never     = "never"
	Rational  = "rational"
	Impatient = "impatient"
)

// Named returns the choice of a plug-in with its default options.
func Named(name string) Choice { return Choice{Name: name, Label: name} }

// Want describes what a file may contain.
func (Choice) Want() string { return config.Spec{}.Want() }

// Decode sets v, a pointer to the plug-in's options, from the file. It does not change fields
// that the file omits. It rejects unknown fields and numbers that are not finite; an [Error]
// gives the position.
func (c Choice) Decode(v any) error {
	return Options{c.path, c.options}.Decode(v)
}

// Blame converts an error about the options, such as a value that the plug-in rejects, into an
// [Error] with the position of the choice. It returns nil and errors that are already an
// [Error] unchanged. It also does so for a choice made in code, which has no position.
func (c Choice) Blame(err error) error { return blame(c.at, c.path, err) }

// resolved returns c with a relative path in its option file joined to the folder of the
// scenario file that contains it.
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

// Options returns the options in the file, without name, label and sharing, as plain values.
func (c Choice) Options() map[string]any {
	out := map[string]any{}
	if c.options != nil {
		// This cannot fail, because the options were decoded before.
		_ = decode(c.options, reflect.ValueOf(&out).Elem(), field{path: c.path})
	}
	return out
}

// decodeChoice reads a name or a mapping. A mapping without a name sets options of the plug-in
// that c already names.
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
			return fail(apart.at, join(f.path, "options"), "found %s, want a mapping of only options, or the options next to the name", apart.found())
		}
		rest = apart
	}
	if len(rest.keys) > 0 {
		c.options = rest
	}
	return nil
}

// node returns the form of c in a file, which is the bare name if nothing else is set.
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
