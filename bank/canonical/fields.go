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

// Fields returns the values of the JSON object in b by key. It rejects keys that are not
// exactly one of names, duplicate keys, and data after the object. Therefore all JSON parsers
// find the same values.
func Fields(b []byte, names ...string) (map[string]json.RawMessage, error) {
	return fields(b, names, false)
}

// Check returns an error if different JSON parsers could find different values for the keys in
// names in the object b. The causes are a duplicate key, a key in another case, and data after
// the object. Other keys are permitted, but they must not occur twice either.
func Check(b []byte, names ...string) error {
	if plain(b, names) {
		return nil
	}
	_, err := fields(b, names, true)
	return err
}

// plain reports whether b is an object whose keys have no escapes and no duplicates, and in
// which none of names occurs in another case. It is a fast version of [Check] for the usual
// output of programs. If it returns false, b may still be valid.
func plain(b []byte, names []string) bool {
	if len(b) == 0 || b[0] != '{' || len(names) > 64 || !utf8.Valid(b) || !json.Valid(b) {
		return false
	}
	var seen uint64 // one bit per name
	var others [16][]byte
	depth, key, more := 0, false, 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			depth++
			key = depth == 1
		case '}', ']':
			depth--
		case ',':
			key = depth == 1
		case '"':
			from, escaped := i+1, false
			for i = from; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i, escaped = i+1, true
				}
			}
			if !key {
				continue
			}
			key = false
			name := b[from:i]
			at := slices.IndexFunc(names, func(n string) bool { return n == string(name) })
			switch {
			case escaped || at >= 0 && seen>>at&1 > 0:
				return false
			case at >= 0:
				seen |= 1 << at
				continue
			case more == len(others),
				slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, string(name)) }),
				slices.ContainsFunc(others[:more], func(o []byte) bool { return string(o) == string(name) }):
				return false
			}
			others[more] = name
			more++
		}
	}
	return true
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
		name := key.(string) // if it is not a string, there was an error
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
		return nil, fmt.Errorf("found text after the object, want one JSON object")
	}
	return fields, nil
}

func notObject(b []byte, err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("found %.60q, want a JSON object: %w", b, err)
}
