package scenario

// Fill decodes data, a file with the syntax of a scenario, into a struct. The parameter v must
// point to a struct with the same kinds of tags as a scenario. Fields that the file omits do
// not change. Fill applies each override, path=value, before it checks anything. Errors in the
// file are of type *config.Error.
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
