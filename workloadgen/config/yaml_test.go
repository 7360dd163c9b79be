package config

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// refusals are texts that readers interpret differently, with the error for each.
var refusals = []struct{ text, want string }{
	{"a: yes", ": a: found yes, which YAML readers interpret differently"},
	{"a: Off", "found Off"},
	{"a: True", "found True"},
	{"017: 1", "1:1: 017: found 017"},
	{"a:\n  b: 0o17", "2:6: a.b: found 0o17"},
	{"a: [1, 017]", "1:8: a.1: found 017"},
	{"a: 08", "found 08"},
	{"a: 0x10", "found 0x10"},
	{"a: 0b11", "found 0b11"},
	{"a: 0X1", "found 0X1"},
	{"{1.0: x}", "1:2: 1.0: found 1.0"},
	{"{1e3: x}", "found 1e3"},
	{"a: 1_000", "found 1_000"},
	{"a: 0e0_", "found 0e0_"},
	{"a: -_1", "found -_1"},
	{"a: 1:30", "found 1:30"},
	{"a: 190:20:30.15", "found 190:20:30.15"},
	{"a: 2001-12-14", "found 2001-12-14"},
	{"a: .inf", "found .inf"},
	{"a: .NaN", "found .NaN"},
	{"a: .", "found ."},
	{"a: =", "found ="},
	{"a: &x 1\nb: *x", "1:4: a: found &x, want no anchors"},
	{"a: {b: &x 1}", "1:8: a.b: found &x, want no anchors"},
	{"a: !!str 1", "a: found !!str, want no tags"},
	{"a: {b: 1}\n<<: {b: 2}", "2:1: <<: found <<, want no merge keys"},
	{"a: 1\nb: 2\na: 3", "3:1: a: found twice, first in line 1"},
	{"a: 1\n---\nb: 1", "second document"},
	{"a: 1\n---\n", "second document"},
	{"a: x\ty", "1:5: found a tab, want spaces"},
	{"b: 1 # \t\nc: \tx", "2:4: found a tab"},
	{"a: x\u0085y", "1:5: found the character U+0085"},
	{"%YAML 1.1\n--- a", "1:1: found %YAML 1.1, want no directives"},
	{"{a\n  b: 1}", "1:2: a b: found a key in several lines"},
	{"{'a\n  b': 1}", "found a key in several lines"},
	{"a: 1e400", "1:4: a: found 1e400, want a number"},
	{"~: 1", "1:1: found nothing as a key"},
	{"[a]: 1", "found"},
}

// TestRefusals checks that texts that readers interpret differently are rejected, with their
// positions.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range refusals {
		var got any
		if err := Read("", []byte(c.text), &got); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, error %v, want %s", c.text, got, err, c.want)
		}
	}
}

// TestRead checks texts that all readers interpret identically.
func TestRead(t *testing.T) {
	t.Parallel()
	const text = "\ufeffa: [1, -2.5, 1e3, .5]\r\nb: {c: true, d: null, e: 'yes', f: \"017\"}\r\n# comment\r\ng: |\r\n  two\r\n  lines\r\nh: a#b y\r\ni: [no_, o_n, tr_ue, _1, h_1]\r\n"
	want := map[string]any{
		"a": []any{int64(1), -2.5, 1e3, .5},
		"b": map[string]any{"c": true, "d": nil, "e": "yes", "f": "017"},
		"g": "two\nlines\n", "h": "a#b y", "i": []any{"no_", "o_n", "tr_ue", "_1", "h_1"},
	}
	var got map[string]any
	if err := Read("", []byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%#v, %v, want %#v", got, err, want)
	}
	if err := Read("", []byte("a: 1\nc: 1"), new(struct{ A int })); err == nil || !strings.Contains(err.Error(), "unknown field") {
		t.Errorf("error %v, want unknown field", err)
	}
}

// FuzzRead checks that PyYAML, a reader of YAML 1.1, interprets every accepted text
// identically, if it is installed.
func FuzzRead(f *testing.F) {
	for _, c := range refusals {
		f.Add([]byte(c.text))
	}
	for _, text := range files(f) {
		if len(text) < 4000 {
			f.Add(text)
		}
	}
	for _, s := range []string{"a: |\n  x\n\n  y\n", "a: >-\n  x\n  y\n", "'it''s': \"\\u0041\\n\"", "[a, [b, {c: d}], ]", "- - 1\n  - 2\n-\n  a: 1", "a:\n- 1\n-\n", "a: b c\n  d", "{a: , b: }", "~: null"} {
		f.Add([]byte(s))
	}
	python := startPyYAML(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 4000 || strings.Count(string(text), "[")+strings.Count(string(text), "{")+strings.Count(string(text), "-")+strings.Count(string(text), "?") > 300 {
			return // callers limit the size of the text
		}
		var got any
		if err := Read("", text, &got); err != nil {
			return
		}
		if python == nil {
			return
		}
		tree, complaint := python.read(t, text)
		if complaint != "" {
			t.Fatalf("%q is %#v, which PyYAML refuses: %s", text, got, complaint)
		}
		if want, err := fromPython(tree); err != nil || !reflect.DeepEqual(numbers(got), want) {
			t.Fatalf("%q is %#v, want %#v, %v", text, numbers(got), want, err)
		}
	})
}

// TestSecondReader checks that a second reader interprets files identically.
func TestSecondReader(t *testing.T) {
	t.Parallel()
	for name, text := range files(t) {
		var got, want any
		if err := Read(name, text, &got); err != nil || strings.HasSuffix(name, "/huge.yaml") {
			continue // the second reader interprets a number of 23 digits as text
		}
		if err := yaml.Unmarshal(text, &want); err != nil || !reflect.DeepEqual(numbers(got), numbers(want)) {
			t.Errorf("%s is %#v, want %#v, %v", name, got, want, err)
		}
	}
}

// files returns the YAML files of the module.
func files(t testing.TB) map[string][]byte {
	all := map[string][]byte{}
	for _, pattern := range []string{"../models/testdata/*.yaml", "../../experiments/papers/*.yaml", "../../experiments/papers/*/*.yaml", "../../experiments/scenario/testdata/*.yaml", "../../experiments/scenario/testdata/broken/*.yaml"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all[name] = text
		}
	}
	return all
}

// numbers returns v with all its numbers converted to float64.
func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[k] = numbers(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = numbers(item)
		}
		return out
	}
	switch x := reflect.ValueOf(v); {
	case x.CanInt():
		return float64(x.Int())
	case x.CanUint():
		return float64(x.Uint())
	case x.CanFloat():
		return x.Float() + 0
	}
	return v
}

// fromPython converts a tree to the same types as numbers.
func fromPython(tree any) (any, error) {
	node := tree.([]any)
	switch node[0] {
	case "map":
		out := make(map[string]any)
		for _, pair := range node[1:] {
			if key := pair.([]any)[0].([]any)[0]; key == "map" || key == "seq" {
				return nil, fmt.Errorf("a %s is a key", key)
			}
			name := pair.([]any)[0].([]any)[1].(string) // a key is a name
			if _, again := out[name]; again {
				return nil, fmt.Errorf("key %s comes twice", name)
			}
			v, err := fromPython(pair.([]any)[1])
			if err != nil {
				return nil, err
			}
			out[name] = v
		}
		return out, nil
	case "seq":
		out := []any{}
		for _, item := range node[1:] {
			v, err := fromPython(item)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	}
	text := node[1].(string)
	switch node[0] {
	case "null":
		return nil, nil
	case "bool":
		return text == "true", nil
	case "int", "float":
		x, err := strconv.ParseFloat(text, 64)
		if math.IsInf(x, 0) {
			return text, nil
		}
		return x + 0, err
	case "str":
		if x, err := strconv.ParseFloat(text, 64); err == nil && exponent(text) {
			return x + 0, nil // PyYAML requires a point in such a number; other readers do not
		}
		return text, nil
	}
	return nil, errors.New(text + " is " + node[0].(string))
}

func exponent(s string) bool { return number.MatchString(s) && strings.ContainsAny(s, "eE") }

// TestFollow checks that a path leads to its value or, if there is no such value, to the
// nearest existing parent. A value is never used as a key.
func TestFollow(t *testing.T) {
	t.Parallel()
	n, err := Parse("", []byte(`
# a comment
- name: work
  work: 3
- {name: b c,
   list: [1,
     2]}
`))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"0": "work 3:3 true", "0.name": "work.name 3:9 true", "0.work": "work.work 4:9 true", "0.none": "work.none 3:3 false", "1": "1 5:3 true",
		"1.list": "1.list 6:10 true", "1.list.1": "1.list.1 7:6 true", "1.list.2": "1.list.2 6:10 false", "1.name.x": "1.name.x 5:10 false", "2.name": "2 3:1 false",
	} {
		field, at, found := n.Follow(path)
		if got := fmt.Sprint(field, " ", at.At, " ", found); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
