package config

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

// law decodes itself. A bare name is also valid.
type law struct {
	Name    string         `yaml:"name"`
	Options map[string]any `yaml:"options,omitempty"`
}

func (l *law) FromNode(n *Node, path string) error {
	*l = law{}
	if n.Kind == Scalar {
		return n.Decode(path, &l.Name)
	}
	type plain law
	return n.Decode(path, (*plain)(l))
}

type deep struct {
	Deep *float64 `yaml:"deep"`
}

type options struct {
	F    float64
	I    int `yaml:"i"`
	N    int32
	U    uint64
	S    string
	B    bool
	L    []float64
	A    [2]int
	Law  law
	Any  map[string]any
	deep `yaml:",inline"`
}

// TestDecode checks that values of every kind are unchanged after they are encoded and decoded,
// both from a text and from Go values.
func TestDecode(t *testing.T) {
	t.Parallel()
	half := 0.5
	want := options{
		F: 1000, I: -3, N: 7, U: math.MaxUint64, S: "1.50", B: true, L: []float64{1, 2.5}, A: [2]int{1, 2},
		Law: law{Name: "weibull", Options: map[string]any{"shape": 1e3, "about": "017"}}, Any: map[string]any{"x": nil, "y": int64(1)},
		deep: deep{&half},
	}
	const text = `
f: 1e3
i: -3.0
n: 7
u: 18446744073709551615
s: 1.50
b: true
l: [1, 2.5]
a: [1, 2]
law: {name: weibull, options: {shape: 1e3, about: "017"}}
any: {x: null, y: 1}
deep: 0.5
`
	var got options
	if err := Read("", []byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	made := map[string]any{
		"f": 1e3, "i": -3, "n": 7.0, "u": uint64(math.MaxUint64), "s": "1.50", "b": true, "l": []any{1, 2.5}, "a": []int{1, 2},
		"law": law{Name: "weibull", Options: map[string]any{"shape": 1000.5, "about": "017"}}, "any": map[string]any{"x": nil, "y": 1}, "deep": &half,
	}
	want.Law.Options["shape"] = 1000.5
	got = options{}
	if err := Of(made).Decode("", &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	got = options{Law: law{Name: "kept"}, F: 3}
	if err := Of(map[string]any{"law": "zipf"}).Decode("", &got); err != nil || got.Law.Name != "zipf" || got.F != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestDecodeRefuses checks that values of a wrong type are rejected.
func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"i: 1.5":                        ": i: found 1.5, want a whole number",
		"n: 3000000000":                 ": n: found 3000000000, want a whole number",
		"i: 1e30":                       ": i: found 1e30, want a whole number",
		`i: "3"`:                        `: i: found "3", want a whole number`,
		"\n\nf: '0.3'":                  `3:4: f: found "0.3", want a number`,
		"f: true":                       ": f: found true, want a number",
		"f:":                            "f: found nothing, want a number",
		"u: -1":                         ": u: found -1, want a whole number at least 0",
		"b: 1":                          ": b: found 1, want true or false",
		`b: "true"`:                     `: b: found "true", want true or false`,
		"s: [x]":                        ": s: found a list, want text",
		"l: 3":                          ": l: found 3, want a list",
		"l:\n- 1\n- x":                  `3:3: l.1: found x, want a number`,
		"a: [1]":                        ": a: found a list of 1, want a list of 2, each a whole number",
		"F: 1":                          ": F: unknown field, did you mean f? want one of f, i, n, u, s, b, l, a, law, any, deep",
		"law: {nam: x}":                 ": law.nam: unknown field, did you mean name? want one of name, options",
		"law: {options: [1]}":           ": law.options: found a list, want a mapping",
		"{f: 1, f: 2}":                  "f",
		"any: {x: {y: [017]}}":          ": any.x.y.0: found 017, which YAML readers interpret differently",
		"[1]":                           "1:1: found a list, want a mapping",
		"deep: {}":                      ": deep: found a mapping, want a number",
		"s: " + strings.Repeat("[", 30): "not YAML",
	} {
		var o options
		if err := Read("", []byte(text), &o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, error %v, want %s", text, o, err, want)
		}
	}
	for _, c := range []struct {
		from any
		want string
	}{
		{map[string]any{"i": 1.5}, "i: found 1.5, want a whole number"},
		{map[string]any{"f": "0.3"}, `f: found "0.3", want a number`},
		{map[string]any{"i": math.NaN()}, "i: found NaN, want a whole number"},
	} {
		var o options
		if err := Of(c.from).Decode("", &o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %+v, error %v, want %s", c.from, o, err, c.want)
		}
	}
}
