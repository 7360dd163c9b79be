package scenario

import (
	"bourse/workloadgen/config"
	"bourse/workloadgen/plugin"
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

	path    string // position of the field, for messages
	at      config.Place
	options *config.Node // nil if there are none
}

// Behavior of users with respect to offers.
const (
	Never     = "never"
	Rational  = "rational"
	Impatient = "impatient"
)

// Named returns the choice of a plug-in with its default options.
func Named(name string) Choice { return Choice{Name: name, Label: name} }

// Want describes the valid contents of a file.
func (Choice) Want() string { return config.Spec{}.Want() }

// Decode sets v, a pointer to the plug-in's options, from the file. It does not change fields
// that the file omits. It rejects unknown fields and values that violate their tags; a
// [*config.Error] gives the position.
func (c Choice) Decode(v any) error { return Options{c.path, c.options}.Decode(v) }

// Blame converts an error about the options, such as a value that the plug-in rejects, into an
// [Error] with the position of the choice. It returns nil and errors that are already an
// [Error] unchanged. It also does so for a choice made in code, which has no position.
func (c Choice) Blame(err error) error { return c.at.Blame(c.path, err) }

// resolved returns c with a relative path in its option file joined to the folder of the
// scenario file that contains it.
func (c *Choice) resolved() *Choice {
	if n := c.options.Get("command"); n != nil { // it runs in the folder of the file, or in another from there
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

// Options returns the options in the file, without name, label and sharing, as plain values.
func (c Choice) Options() map[string]any {
	out := map[string]any{}
	_ = Options{"", c.options}.Decode(&out) // cannot fail, because the options were decoded before
	return out
}

// FromNode reads a name or a mapping. A mapping without a name sets options of the plug-in that
// c already names.
func (c *Choice) FromNode(n *config.Node, path string) error {
	own := []string{"label", "sharing", "negotiate"}
	rest := n
	if n.Kind == config.Mapping {
		rest = n.Without(own...)
	}
	name, options, err := rest.Get("name"), rest.Without("name"), error(nil)
	if rest.Get("file") == nil && rest.Get("command") == nil || rest.Get("name") == nil { // a policy in a file has options of its own
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

// Node returns the form of c in a file, which is the bare name if nothing else is set.
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
