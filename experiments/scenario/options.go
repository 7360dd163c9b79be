package scenario

import "bourse/workloadgen/config"

// Options are the fields of a file that this package does not interpret. The zero value has no
// fields.
type Options struct {
	path   string       // position of the field, for error messages
	fields *config.Node // nil if there are no options
}

// Want describes the valid contents of the field in a file.
func (Options) Want() string { return "a mapping of options" }

// Given reports whether the file contains any options.
func (o Options) Given() bool { return o.fields != nil }

// Decode sets v in the same way as [Choice.Decode] does.
func (o Options) Decode(v any) error {
	if o.fields == nil {
		return config.Check(v)
	}
	if err := o.fields.Decode(o.path, v); err != nil {
		return err
	}
	return o.fields.Check(o.path, v)
}

// Packs reports whether several nodes of a job may share a host.
func (w *Workload) Packs() bool {
	all := []*config.Node{w.Annotate.fields}
	if w.Model != nil {
		all = append(all, w.Model.options)
	}
	for _, n := range all {
		for _, name := range []string{"sizes", "rule"} {
			if n != nil {
				n = n.Get(name)
			}
		}
		if n != nil && n.Text == "pack" {
			return true
		}
	}
	return false
}

// Blame converts an error about the options to a [*config.Error] with the position of the
// options, like [Choice.Blame].
func (o Options) Blame(err error) error {
	if o.fields == nil {
		return err
	}
	return o.fields.At.Blame(o.path, err)
}

// FromNode takes a mapping.
func (o *Options) FromNode(n *config.Node, path string) error {
	switch n.Kind {
	case config.Null:
		*o = Options{}
	case config.Mapping:
		*o = Options{path, n}
	default:
		return n.At.Fail(path, "found %s, want %s", n.Found(), o.Want())
	}
	return nil
}

// Node returns o in the form used in files.
func (o Options) Node() *config.Node {
	if o.fields == nil {
		return &config.Node{}
	}
	return o.fields
}
