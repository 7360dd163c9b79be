package scenario

import "reflect"

// Options are fields that a file gives to something that this package does not
// know. The zero value gives none.
type Options struct {
	path   string // of the field, for messages
	fields *node  // nil where there are none
}

// Want says what a file may write.
func (Options) Want() string { return "a mapping of options" }

// Given reports whether the file gives any.
func (o Options) Given() bool { return o.fields != nil }

// Decode fills in v as [Choice.Decode] does.
func (o Options) Decode(v any) error {
	if o.fields == nil {
		return nil
	}
	if err := decode(o.fields, reflect.ValueOf(v).Elem(), field{path: o.path}); err != nil {
		return err
	}
	return validate(v, o.fields, o.path)
}

// Blame puts what is said of the options in the form of an [Error] that says
// where they stand: see [Choice.Blame].
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

// node returns what a file would say.
func (o Options) node() *node {
	if o.fields == nil {
		return &node{}
	}
	return o.fields
}
