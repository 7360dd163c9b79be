package results

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
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
	switch field, found, want := fieldDiffers(said, read, ""); {
	case want == missing:
		return fmt.Errorf("%s: unknown field", field)
	case field != "":
		return fmt.Errorf("%s: found %.40v, which would be read as %.40v", field, found, want)
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

// missing is the value of a field that does not exist.
var missing any = missingField{}

type missingField struct{}

func (missingField) String() string { return "nothing" }

// fieldDiffers returns the first field of a in which b, another tree of JSON, differs, and both
// values. The name is empty if there is no difference. Fields that only b has do not count.
func fieldDiffers(a, b any, path string) (field string, found, want any) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(x)) {
			item, known := y[key]
			if !known {
				return inside(path, key), x[key], missing
			}
			if field, found, want = fieldDiffers(x[key], item, inside(path, key)); field != "" {
				return field, found, want
			}
		}
		return "", nil, nil
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			break
		}
		for i := range x {
			if field, found, want = fieldDiffers(x[i], y[i], inside(path, strconv.Itoa(i))); field != "" {
				return field, found, want
			}
		}
		return "", nil, nil
	case json.Number:
		y, _ := b.(json.Number)
		one, err := x.Float64()
		if other, wrong := y.Float64(); err == nil && wrong == nil && one == other {
			return "", nil, nil
		}
	}
	if reflect.DeepEqual(a, b) {
		return "", nil, nil
	}
	return cmp.Or(path, "the whole"), a, b
}

func inside(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
