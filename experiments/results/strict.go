package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"unicode/utf8"
)

// UnmarshalJSON reads a manifest. UnmarshalJSON accepts only manifests that every reader
// interprets in the same way. It rejects duplicate fields, unknown fields, and fields that
// differ only in case. It implements [json.Unmarshaler].
func (m *Manifest) UnmarshalJSON(b []byte) error {
	type plain Manifest
	var p plain
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	if !utf8.Valid(b) {
		return errors.New("found bytes that are not UTF-8")
	}
	if found := half.Find(b); found != nil {
		return fmt.Errorf("found %s, want unescaped characters", found)
	}
	said, err := jsonTree(json.NewDecoder(bytes.NewReader(b)), "")
	if err != nil {
		return err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	read, err := jsonTree(json.NewDecoder(bytes.NewReader(text)), "")
	if err != nil {
		return err
	}
	if err := sameJSON(said, read, ""); err != nil {
		return err
	}
	*m = Manifest(p)
	return nil
}

// half matches the escape sequence of one half of a surrogate pair. Readers interpret an
// escape sequence without its other half in different ways.
var half = regexp.MustCompile(`(?:[^\\]|^)(?:\\\\)*\\u[dD][89a-fA-F]`)

// jsonTree returns the next value. Its type is nil, bool, json.Number, string, []any or
// map[string]any. A duplicate key is an error.
func jsonTree(d *json.Decoder, path string) (any, error) {
	d.UseNumber()
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('['):
		out := []any{}
		for d.More() {
			item, err := jsonTree(d, inside(path, strconv.Itoa(len(out))))
			if err != nil {
				return nil, err
			}
			out = append(out, item)
		}
		_, err := d.Token()
		return out, err
	case json.Delim('{'):
		out := map[string]any{}
		for d.More() {
			k, err := d.Token()
			if err != nil {
				return nil, err
			}
			key := k.(string) // the decoder guarantees that the key is a string
			field := inside(path, key)
			if _, again := out[key]; again {
				return nil, fmt.Errorf("%s: found twice", field)
			}
			if out[key], err = jsonTree(d, field); err != nil {
				return nil, err
			}
		}
		_, err := d.Token()
		return out, err
	}
	return t, nil
}

// sameJSON returns an error if a value in said, the text of the manifest, differs from the
// value in read, the parsed manifest.
func sameJSON(said, read any, path string) error {
	switch s := said.(type) {
	case map[string]any:
		r, ok := read.(map[string]any)
		if !ok {
			break
		}
		for k, item := range s {
			field := inside(path, k)
			back, known := r[k]
			if !known {
				return fmt.Errorf("%s: unknown field", field)
			}
			if err := sameJSON(item, back, field); err != nil {
				return err
			}
		}
		return nil
	case []any:
		r, ok := read.([]any)
		if !ok || len(r) != len(s) {
			break
		}
		for i := range s {
			if err := sameJSON(s[i], r[i], inside(path, strconv.Itoa(i))); err != nil {
				return err
			}
		}
		return nil
	case json.Number:
		if r, ok := read.(json.Number); ok {
			x, err1 := s.Float64()
			y, err2 := r.Float64()
			if err1 == nil && err2 == nil && x == y {
				return nil
			}
		}
	}
	if !reflect.DeepEqual(said, read) {
		return fmt.Errorf("%s: found %.40v, which would be read as %.40v", path, said, read)
	}
	return nil
}

func inside(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
