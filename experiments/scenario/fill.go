package scenario

import "reflect"

// Fill reads data, a file that is no scenario but is written as one, into v, a pointer to a
// struct whose fields have the tags that a scenario's have, and leaves alone what it does
// not say. Each override, path=value, is applied before anything is checked. Mistakes are
// of type [*Error].
func Fill(name string, data []byte, v any, sets ...string) error {
	root, err := read(name, data)
	if err != nil {
		return err
	}
	for _, s := range sets {
		if root, _, _, err = set(root, s); err != nil {
			return err
		}
	}
	if root.kind == null {
		root = &node{kind: mapping, at: root.at}
	}
	if err := decode(root, reflect.ValueOf(v).Elem(), field{}); err != nil {
		return err
	}
	if err := validate(v, root, ""); err != nil {
		return err
	}
	return unclear(root, "")
}
