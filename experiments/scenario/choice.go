package scenario

import (
	"bourse/workloadgen/config"
	"bourse/workloadgen/plugin"
	"slices"
)

// A Choice is the name of a plug-in with its options. In a file, it is either a name or a
// mapping:
//
//	admission: [be, {name: cac, capacity: static, label: printed}, {name: edf, sharing: exclusive}]
//
// Options may also be in a nested mapping, as in [config.Spec].
type Choice struct {
	Name  string
	Label string // label that distinguishes choices of the same plug-in in tables of results; Name by default

	// Sharing is the sharing rule that replaces the market's rule under this admission
	// policy. It is nil if there is none.
	Sharing *Choice

	// Negotiate specifies the behaviour of users whose request the admission policy would
	// reject. [Rational] and [Impatient] users receive offers. If Negotiate is empty or
	// [Never], users receive no offers.
	Negotiate string

	path    string // position of the field, for error messages
	at      config.Place
	options *config.Node // nil if there are no options
}

// The words that specify how users react to offers.
const (
	Never     = "never"
	Rational  = "rational"
	Impatient = "impatient"
)

// Named returns the choice of a plug-in with default options.
func Named(name string) Choice { return Choice{Name: name, Label: name} }

// Want describes the valid contents of the field in a file.
func (Choice) Want() string { return config.Spec{}.Want() }

// Decode sets v, a pointer to the plug-in's options, from the file. Fields that the file omits
// do not change. Decode rejects unknown fields and values that violate the fields' tags. An
// error is a [*config.Error] with the position in the file.
func (c Choice) Decode(v any) error { return Options{c.path, c.options}.Decode(v) }

// Blame converts an error about the options, such as a value that the plug-in rejects, into a
// [*config.Error] with the position of the choice. It returns nil, and errors that already
// have this type, unchanged. If the choice was made in code and has no position, Blame also
// returns the error unchanged.
func (c Choice) Blame(err error) error { return c.at.Blame(c.path, err) }

// resolved returns a copy of c in which a relative path in the options is joined to the
// folder of the scenario file.
func (c *Choice) resolved() *Choice {
	if n := c.options.Get("command"); n != nil { // the command runs in the file's folder, or in a folder relative to it
		folder, out := ".", *c
		if given := c.options.Get("folder"); given != nil {
			folder = given.Text
		}
		out.options = c.options.Put("folder", config.Text(relative(n, folder)))
		return &out
	}
	file := c.options.Get("file")
	if file == nil || file.Kind != config.Scalar {
		return c
	}
	at, out := *file, *c
	at.Text = relative(file, file.Text)
	out.options = c.options.Put("file", &at)
	return &out
}

// Options returns the options in the file as plain values, without the name, label and
// sharing rule.
func (c Choice) Options() map[string]any {
	out := map[string]any{}
	_ = Options{"", c.options}.Decode(&out) // ignore the error, because the options have been decoded before
	return out
}

// FromNode parses a name or a mapping. A mapping without a name sets the options of the
// plug-in that c already names.
func (c *Choice) FromNode(n *config.Node, path string) error {
	own := []string{"label", "sharing", "negotiate"}
	rest := n
	if n.Kind == config.Mapping {
		rest = n.Without(own...)
	}
	name, options, err := rest.Get("name"), rest.Without("name"), error(nil)
	if rest.Get("file") == nil && rest.Get("command") == nil || rest.Get("name") == nil { // a policy from a file has its own options
		name, options, err = rest.Named(path)
	}
	if err != nil {
		return err
	}
	*c = Choice{Name: c.Name, Label: c.Label, path: path, at: n.At, options: options}
	if name != nil {
		if err := name.Decode(path, &c.Name); err != nil {
			return err
		}
		c.Label = c.Name
	}
	if c.Name == "" {
		return n.At.Fail(path, "found %s without a name, want %s", n.Found(), c.Want())
	}
	for i, v := range []any{&c.Label, &c.Sharing, &c.Negotiate} {
		if item := n.Get(own[i]); item != nil {
			if err := item.Decode(config.Join(path, own[i]), v); err != nil {
				return err
			}
		}
	}
	if users := []string{"", Never, Rational, Impatient}; !slices.Contains(users, c.Negotiate) {
		return n.Get("negotiate").At.Fail(config.Join(path, "negotiate"), "found %q, %s", plugin.Clip(c.Negotiate), plugin.OneOf(c.Negotiate, users[1:]))
	}
	return nil
}

// Node returns c in the form used in files. This is only the name if no other field is set.
func (c Choice) Node() *config.Node {
	n := config.Text(c.Name)
	if c.options == nil && c.Sharing == nil && c.Negotiate == "" && (c.Label == "" || c.Label == c.Name) {
		return n
	}
	n = wrap(n)
	if c.Label != "" && c.Label != c.Name {
		n = n.Put("label", config.Text(c.Label))
	}
	if c.Sharing != nil {
		n = n.Put("sharing", c.Sharing.Node())
	}
	if c.Negotiate != "" {
		n = n.Put("negotiate", config.Text(c.Negotiate))
	}
	if c.options != nil {
		n = mergeFields(n, c.options)
	}
	return n
}
