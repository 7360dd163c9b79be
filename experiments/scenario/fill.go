package scenario

import "reflect"

// Fill reads data, a file with the syntax of a scenario, into v, a pointer to a struct with
// the same tags as a scenario. It does not change fields that the file omits. It applies each
// override, path=value, before it checks anything. Mistakes are of type [*Error].
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
