package scenario

// Fill reads data, a file with the syntax of a scenario, into v, a pointer to a struct with
// the same tags as a scenario. It does not change fields that the file omits. It applies each
// override, path=value, before it checks anything. Mistakes are of type *config.Error.
func Fill(name string, data []byte, v any, sets ...string) error {
	root, err := read(name, data)
	for _, s := range sets {
		if err == nil {
			root, _, _, err = set(root, s)
		}
	}
	if err != nil {
		return err
	}
	return root.Fill("", v)
}
