package plainyaml

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

	second "go.yaml.in/yaml/v4"
)

// refusals are texts that readers differ on, and what is said of each.
var refusals = []struct{ text, want string }{
	{"a: yes", "1: a: found yes, which YAML readers interpret differently"},
	{"a: Off", "found Off"},
	{"a: True", "found True"},
	{"017: 1", "1: 017: found 017"},
	{"a:\n  b: 0o17", "2: a.b: found 0o17"},
	{"a: [1, 017]", "1: a.1: found 017"},
	{"a: 08", "found 08"},
	{"a: 0x10", "found 0x10"},
	{"a: 0b11", "found 0b11"},
	{"a: 0X1", "found 0X1"},
	{"{1.0: x}", "1: 1.0: found 1.0"},
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
	{"a: &x 1\nb: *x", "found an anchor, an alias or a tag"},
	{"a: !!str 1", "found an anchor, an alias or a tag"},
	{"a: {b: 1}\n<<: {b: 2}", "<<"},
	{"a: 1\nb: 2\na: 3", "already defined"},
	{"a: 1\n---\nb: 1", "second document"},
	{"a: 1\n---\n", "second document"},
	{"a: x\ty", "1: found a tab, want spaces"},
	{"b: 1 # \t\nc: \tx", "2: found a tab"},
	{"? a", "found"},
	{"a: x\u0085y", "not YAML"},
	{"{a\n  b: 1}", "not YAML"},
	{`a: "\e\/"`, "not YAML"},
	{"a: 1e400", "1: a: found 1e400, want a number within the range"},
	{"~: 1", "key that is"},
	{"[a]: 1", "found"},
}

// TestRefusals checks that what readers differ on is refused, and where.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range refusals {
		var got any
		if err := Unmarshal([]byte(c.text), &got); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, error %v, want %s", c.text, got, err, c.want)
		}
	}
}

// TestUnmarshal checks what all readers take for the same.
func TestUnmarshal(t *testing.T) {
	t.Parallel()
	const text = "\ufeffa: [1, -2.5, 1e3, .5]\r\nb: {c: true, d: null, e: 'yes', f: \"017\"}\r\n# comment\r\ng: |\r\n  two\r\n  lines\r\nh: a#b y\r\ni: [no_, o_n, tr_ue, _1, h_1]\r\n"
	want := map[string]any{
		"a": []any{int64(1), -2.5, 1e3, .5},
		"b": map[string]any{"c": true, "d": nil, "e": "yes", "f": "017"},
		"g": "two\nlines\n", "h": "a#b y", "i": []any{"no_", "o_n", "tr_ue", "_1", "h_1"},
	}
	var got map[string]any
	if err := Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%#v, %v, want %#v", got, err, want)
	}
	if err := Unmarshal([]byte("a: 1\nc: 1"), new(struct{ A int })); err == nil || !strings.Contains(err.Error(), "unknown field") {
		t.Errorf("error %v, want unknown field", err)
	}
}

// FuzzUnmarshal checks that what is read means the same to two more readers: of
// YAML 1.2 in Go, and of YAML 1.1 in Python where that is installed.
func FuzzUnmarshal(f *testing.F) {
	for _, c := range refusals {
		f.Add([]byte(c.text))
	}
	for _, pattern := range []string{"../models/testdata/*.yaml", "../../experiments/papers/*/*.yaml", "../../experiments/scenario/testdata/broken/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatal(pattern, err)
		}
		for _, name := range files {
			if text, err := os.ReadFile(name); err == nil && len(text) < 4000 {
				f.Add(text)
			}
		}
	}
	for _, s := range []string{"a: |\n  x\n\n  y\n", "a: >-\n  x\n  y\n", "'it''s': \"\\u0041\\n\"", "[a, [b, {c: d}], ]", "- - 1\n  - 2\n-\n  a: 1", "a:\n- 1\n-\n", "a: b c\n  d", "{a: , b: }", "~: null"} {
		f.Add([]byte(s))
	}
	python := startPyYAML(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 4000 || strings.Count(string(text), "[")+strings.Count(string(text), "{")+strings.Count(string(text), "-")+strings.Count(string(text), "?") > 300 {
			return // callers bound it
		}
		var got any
		if err := Unmarshal(text, &got); err != nil {
			return
		}
		var doc second.Node
		if err := second.Unmarshal(text, &doc); err != nil {
			t.Fatalf("%q is %#v, which another reader refuses: %v", text, got, err)
		}
		if got, want := plain(got), fromNode(t, &doc); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q is %#v, want %#v", text, got, want)
		}
		if python == nil {
			return
		}
		tree, complaint := python.read(t, text)
		if complaint != "" {
			t.Fatalf("%q is %#v, which PyYAML refuses: %s", text, got, complaint)
		}
		if want, err := fromPython(tree); err != nil || !reflect.DeepEqual(plain(got), want) {
			t.Fatalf("%q is %#v, want %#v, %v", text, plain(got), want, err)
		}
	})
}

// fromNode returns what the second reader takes a text for, in the terms of plain.
func fromNode(t *testing.T, n *second.Node) any {
	switch n.Kind {
	case second.DocumentNode:
		return fromNode(t, n.Content[0])
	case second.MappingNode:
		out := make(map[string]any)
		for i := 0; i < len(n.Content); i += 2 {
			out[n.Content[i].Value] = fromNode(t, n.Content[i+1])
		}
		if 2*len(out) != len(n.Content) {
			t.Fatalf("line %d: a key comes twice", n.Line)
		}
		return out
	case second.SequenceNode:
		out := make([]any, len(n.Content))
		for i, item := range n.Content {
			out[i] = fromNode(t, item)
		}
		return out
	case second.ScalarNode:
		var v any
		if err := n.Decode(&v); err != nil {
			t.Fatal(err)
		}
		return plain(v)
	}
	return nil
}

// plain returns v with all its numbers float64.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[k] = plain(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = plain(item)
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

// fromPython returns what a tree says, in the terms of plain.
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
			return x + 0, nil // it wants a point in such a number; others do not
		}
		return text, nil
	}
	return nil, errors.New(text + " is " + node[0].(string))
}

func exponent(s string) bool { return number.MatchString(s) && strings.ContainsAny(s, "eE") }

// TestLine checks that a path leads to the line of its value, and to the nearest thing above
// where there is no such value; a value is never taken for a key.
func TestLine(t *testing.T) {
	t.Parallel()
	const text = `
# a comment
- name: work
  work: 3
- {name: b,
   list: [1,
     2]}
`
	for path, want := range map[string]int{
		"0": 3, "0.name": 3, "0.work": 4, "0.none": 3, "1": 5, "1.list": 6, "1.list.1": 7, "1.list.2": 6, "1.name.x": 5, "2.name": 3, "": 3,
	} {
		if got := Line([]byte(text), path); got != want {
			t.Errorf("%s is in line %d, want %d", path, got, want)
		}
	}
	if got := Line([]byte("[1"), "0"); got != 0 {
		t.Errorf("found line %d of what is no YAML", got)
	}
}
