package script

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	starlarkjson "go.starlark.net/lib/json"
	"go.starlark.net/starlark"

	"bourse/contracts/admission/outside"
)

// encodeState returns a state as canonical JSON, in which keys are sorted and floats always
// differ from integers. It may contain None, Booleans, numbers, text, lists and dicts.
func encodeState(v starlark.Value) ([]byte, error) {
	if _, ok := v.(*starlark.Dict); !ok {
		return nil, fmt.Errorf("the state is %s, want a dict", v.Type())
	}
	b, err := appendJSON(nil, v, "state", 0)
	if err == nil && len(b) > outside.MaxState {
		err = fmt.Errorf("the state has %d bytes as JSON, want at most %d", len(b), outside.MaxState)
	}
	return b, err
}

// maxDepth is the maximum nesting depth of lists and dicts in a state.
const maxDepth = 64

// appendJSON appends v, which is at path.
func appendJSON(b []byte, v starlark.Value, path string, depth int) ([]byte, error) {
	if depth > maxDepth || len(b) > 2*outside.MaxState {
		return nil, fmt.Errorf("%s is too deep or too large to be part of a state", path)
	}
	var err error
	switch v := v.(type) {
	case starlark.NoneType:
		return append(b, "null"...), nil
	case starlark.Bool:
		return fmt.Appendf(b, "%t", bool(v)), nil
	case starlark.Int:
		if _, small := v.Int64(); small {
			return append(b, v.String()...), nil
		}
	case starlark.Float:
		if x := float64(v); !math.IsNaN(x) && !math.IsInf(x, 0) {
			return append(b, v.String()...), nil
		}
	case starlark.String:
		text, err := encodeText(string(v))
		return append(b, text...), err
	case *starlark.List:
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendJSON(b, v.Index(i), fmt.Sprintf("%s[%d]", path, i), depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case *starlark.Dict:
		keys := v.Keys()
		slices.SortFunc(keys, func(a, b starlark.Value) int { return strings.Compare(a.String(), b.String()) })
		b = append(b, '{')
		for i, k := range keys {
			name, ok := k.(starlark.String)
			if !ok {
				return nil, fmt.Errorf("%s has the key %v, want text", path, k)
			}
			if i > 0 {
				b = append(b, ',')
			}
			text, err := encodeText(string(name))
			if err != nil {
				return nil, err
			}
			value, _, _ := v.Get(k)
			if b, err = appendJSON(append(append(b, text...), ':'), value, fmt.Sprintf("%s[%q]", path, string(name)), depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	}
	return nil, fmt.Errorf("%s is %s %.100s, want None, a Boolean, a finite number, text, a list or a dict", path, v.Type(), v.String())
}

// encodeText returns s as a JSON string.
func encodeText(s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return nil, fmt.Errorf("the text %q is not valid UTF-8", s)
	}
	return json.Marshal(s)
}

// decodeState returns the state that encodeState encoded.
func decodeState(text []byte) (starlark.Value, error) {
	return starlark.Call(new(starlark.Thread), starlarkjson.Module.Members["decode"], starlark.Tuple{starlark.String(text)}, nil)
}
