package config

// A Spec names a member of a table and its options. A file contains only the name, or one
// mapping of both:
//
//	runtime: {name: weibull, shape: 0.7, scale: 300}
//
// Two older forms are read too:
//
//	runtime: {name: weibull, options: {shape: 0.7, scale: 300}}
//	matchmaker: {threshold: {threshold: 0.8}}
type Spec struct {
	Name    string         `yaml:"name"`
	Options map[string]any `yaml:"options,omitempty"`
}

// Want describes the valid contents of a file.
func (Spec) Want() string { return "a name, or a mapping of name and options" }

// FromNode accepts all forms. Options without a name belong to the member that s already names.
func (s *Spec) FromNode(n *Node, path string) error {
	if n.Kind == Mapping && len(n.Keys) == 1 && n.Get("name") == nil && n.Get("options") == nil {
		member := Text(n.Keys[0].Name)
		member.At = n.Keys[0].At
		n = (&Node{Kind: Mapping, At: n.At}).Put("name", member).Put("options", n.Items[0])
	}
	name, options, err := n.Named(path)
	var out Spec
	switch {
	case err != nil:
		return err
	case name != nil:
		err = name.Decode(Join(path, "name"), &out.Name)
	case n.Get("options") != nil:
		out.Name = s.Name
	}
	if err == nil && out.Name == "" {
		return n.At.Fail(path, "found %s without a name, want %s", n.Found(), s.Want())
	}
	if err == nil && options != nil {
		err = options.Decode(Join(path, out.Name), &out.Options)
	}
	*s = out
	return err
}

// Some is one value or a list of them, as written in a file.
type Some[E any] []E

// FromNode accepts one value or a list of values.
func (s *Some[E]) FromNode(n *Node, path string) error {
	if n.Kind == List || n.Kind == Null {
		return n.Decode(path, (*[]E)(s))
	}
	var one E
	err := n.Decode(path, &one)
	*s = Some[E]{one}
	return err
}

// Named returns the name and the options of a plug-in as written in a file: a bare name, or a
// mapping of both. Either may be nil.
func (n *Node) Named(path string) (name, options *Node, err error) {
	if n.Kind != Mapping {
		if n.Kind == List {
			err = n.At.Fail(path, "found a list, want %s", Spec{}.Want())
		}
		return n, nil, err
	}
	name, options = n.Get("name"), n.Without("name")
	if apart := options.Get("options"); apart != nil {
		if len(options.Keys) > 1 || apart.Kind == Scalar || apart.Kind == List {
			return nil, nil, apart.At.Fail(Join(path, "options"), "found %s, want a mapping of only options, or the options next to the name", apart.Found())
		}
		options = apart
	}
	if len(options.Keys) == 0 {
		options = nil
	}
	return name, options, nil
}

// Decode sets out, a pointer, from the options and checks its tags. It is a [plugin.Decoder].
func (s Spec) Decode(out any) error {
	if err := Of(s.Options).Decode("", out); err != nil {
		return err
	}
	return Check(out)
}
