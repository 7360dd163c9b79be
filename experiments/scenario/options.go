package scenario

import "reflect"

// Options are fields in a file that this package does not interpret. The zero value has none.
type Options struct {
	path   string // of the field, for messages
	fields *node  // nil if there are none
}

// Want describes what a file may contain.
func (Options) Want() string { return "a mapping of options" }

// Given reports whether the file has any options.
func (o Options) Given() bool { return o.fields != nil }

// Decode sets v like [Choice.Decode].
func (o Options) Decode(v any) error {
	if o.fields == nil {
		return nil
	}
	if err := decode(o.fields, reflect.ValueOf(v).Elem(), field{path: o.path}); err != nil {
		return err
	}
	return validate(v, o.fields, o.path)
}

// Blame converts an error about the options into an [Error] with their position, like
// [Choice.Blame].
func (o Options) Blame(err error) error {
	if o.fields == nil {
		return err
	}
	return blame(o.fields.at, o.path, err)
}

func decodeOptions(n *node, o *Options, f field) error {
	switch n.kind {
	case null:
		*o = Options{}
		return nil
	case mapping:
		*o = Options{f.path, n}
		return nil
	}
	return n.mismatch(reflect.ValueOf(o).Elem(), f)
}

// node returns the form of o in a file.
func (o Options) node() *node {
	if o.fields == nil {
		return &node{}
	}
	return o.fields
}
