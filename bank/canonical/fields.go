package canonical

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Fields returns the values of the JSON object in b, which others may have written, by
// key. No key may be any but names, in their case, or come twice, and nothing may
// follow the object: all readers then find the same values.
func Fields(b []byte, names ...string) (map[string]json.RawMessage, error) {
	return fields(b, names, false)
}

// Check reports what readers could take for different values of these keys in the JSON
// object in b: one that comes twice or in another case, or something behind the object.
// Other keys are their writer's own, but come once, too.
func Check(b []byte, names ...string) error {
	_, err := fields(b, names, true)
	return err
}

func fields(b []byte, names []string, others bool) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	if !utf8.Valid(b) {
		return nil, errors.New("found bytes that are not UTF-8, want a JSON object")
	}
	switch t, err := dec.Token(); {
	case err != nil:
		return nil, notObject(b, err)
	case t != json.Delim('{'):
		return nil, fmt.Errorf("found %.60q, want a JSON object", b)
	}
	fields := make(map[string]json.RawMessage, len(names))
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, notObject(b, err)
		}
		name := key.(string) // or it would have been an error
		if _, twice := fields[name]; twice {
			return nil, fmt.Errorf("found field %q twice, want it once", name)
		}
		if !slices.Contains(names, name) {
			if i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) }); i >= 0 {
				return nil, fmt.Errorf("found field %q, want %q", name, names[i])
			}
			if !others {
				return nil, fmt.Errorf("found unknown field %.60q, want one of %s", name, strings.Join(names, ", "))
			}
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, notObject(b, err)
		}
		fields[name] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, notObject(b, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("found something after the object, want one JSON object")
	}
	return fields, nil
}

func notObject(b []byte, err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("found %.60q, want a JSON object: %w", b, err)
}
