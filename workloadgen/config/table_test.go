package config

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"bourse/workloadgen/plugin"
)

type shape struct {
	Kind  string     `yaml:"kind" validate:"oneof=round flat" doc:"kind of it"`
	Size  float64    `yaml:"size" validate:"gt=0,max=1e6" doc:"size, m"`
	Parts []float64  `yaml:"parts" validate:"min=1,dive,min=0,lt=1" doc:"parts"`
	Sides *int       `yaml:"sides" validate:"min=3" doc:"sides; omitted, none"`
	Hurst float64    `yaml:"hurst" validate:"omitempty,gt=0,lt=1" doc:"exponent"`
	Name  string     `yaml:"name" validate:"required" doc:"its name"`
	Next  [2]float64 `yaml:"next" doc:"weights"`
	Law   Spec       `yaml:"law" doc:"law"`
	Inner inner      `yaml:"inner"`
	Start *started   `yaml:"start" doc:"start"`
}

type inner struct {
	Most uint64 `yaml:"most" validate:"max=9" doc:"most"`
}

type started struct {
	At float64 `yaml:"at" doc:"instant"`
}

func (s *started) SetDefaults() { s.At = 5 }

func good() shape {
	return shape{Kind: "flat", Size: 1, Parts: []float64{0}, Name: "x", Law: Spec{"weibull", map[string]any{"shape": 0.7}}}
}

// shapes is a family with three members: one with options, one without, and one that is
// invalid.
func shapes() plugin.Table[shape] {
	return plugin.Table[shape]{Kind: "shape", Members: plugin.Members[shape]{
		"made": {"as its options say", func(decode plugin.Decoder) (shape, error) {
			o := good()
			err := decode(&o)
			return o, err
		}},
		"none": {"without options", plugin.Is(shape{})},
		"torn": {"never", func(decode plugin.Decoder) (shape, error) {
			return shape{}, errors.Join(decode(&struct{}{}), errors.New("it is torn"))
		}},
	}}
}

// TestTable checks that a table creates its members, checks their options, and rejects unknown
// names with a message.
func TestTable(t *testing.T) {
	t.Parallel()
	said := func(options map[string]any) plugin.Decoder { return Spec{"made", options}.Decode }
	for _, c := range []struct {
		name   string
		decode plugin.Decoder
		want   string
	}{
		{"made", nil, ""},
		{"made", said(map[string]any{"size": 3}), ""},
		{"none", nil, ""},
		{"none", said(map[string]any{"size": 3}), "shape none: size: unknown field"},
		{"made", said(map[string]any{"size": 0}), "shape made: size: found 0, want a number more than 0 and at most 1e6 (size, m)"},
		{"made", said(map[string]any{"size": "x"}), `shape made: size: found "x", want a number`},
		{"torn", nil, "shape torn: it is torn"},
		{"odd", nil, `unknown shape "odd", want one of made, none, torn`},
	} {
		_, err := shapes().New(c.name, c.decode)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
	if got := shapes().Doc("none"); got != "without options" || shapes().Doc("odd") != "" {
		t.Errorf("line %q", got)
	}
}

// TestCheck checks that the error for a value that a tag does not allow has the field, the
// value found and the values wanted, and that allowed values are accepted.
func TestCheck(t *testing.T) {
	t.Parallel()
	three, two := 3, 2
	for _, c := range []struct {
		change func(*shape)
		want   string
	}{
		{func(*shape) {}, ""},
		{func(s *shape) { s.Size = 1e6 }, ""},
		{func(s *shape) { s.Sides = &three }, ""},
		{func(s *shape) { s.Hurst = 0.5 }, ""},
		{func(s *shape) { s.Parts = []float64{0, 0.999} }, ""},
		{func(s *shape) { s.Kind = "odd" }, `kind: found "odd", want one of round, flat (kind of it)`},
		{func(s *shape) { s.Kind = "" }, `kind: found "", want one of round, flat (kind of it)`},
		{func(s *shape) { s.Size = math.NaN() }, "size: found NaN, want a number more than 0 and at most 1e6 (size, m)"},
		{func(s *shape) { s.Size = 1e6 + 1 }, "size: found 1.000001e+06, want a number more than 0 and at most 1e6 (size, m)"},
		{func(s *shape) { s.Parts = nil }, "parts: found an empty list, want a list of one or more, each a number at least 0 and less than 1 (parts)"},
		{func(s *shape) { s.Parts = []float64{0, 1} }, "parts.1: found 1, want a number at least 0 and less than 1 (parts)"},
		{func(s *shape) { s.Sides = &two }, "sides: found 2, want a whole number at least 3 (sides; omitted, none)"},
		{func(s *shape) { s.Hurst = 1 }, "hurst: found 1, want a number more than 0 and less than 1, or 0 (exponent)"},
		{func(s *shape) { s.Name = "" }, `name: found "", want text (its name)`},
		{func(s *shape) { s.Next[1] = math.Inf(1) }, "next.1: found +Inf, want a number (weights)"},
		{func(s *shape) { s.Inner.Most = 10 }, "inner.most: found 10, want a whole number at least 0 and at most 9 (most)"},
	} {
		s := good()
		c.change(&s)
		err := Check(&s)
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%+v: error %v, want %q", s, err, c.want)
		}
	}
}

// TestOptions checks the listed options: nested ones, the initial values of a pointer, and a
// name with options as written in a file.
func TestOptions(t *testing.T) {
	t.Parallel()
	got := map[string]any{}
	for _, o := range Options(shapes(), "made") {
		got[o.Name] = o.Default
		if o.Want == "" || o.Doc == "" {
			t.Errorf("%+v lacks a word", o)
		}
	}
	want := map[string]any{
		"kind": "flat", "size": 1.0, "parts": []float64{0}, "sides": nil, "hurst": 0.0, "name": "x", "next": [2]float64{},
		"law": map[string]any{"name": "weibull", "shape": 0.7}, "inner.most": uint64(0), "start": nil, "start.at": 5.0,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if none := Options(shapes(), "none"); len(none) != 0 {
		t.Errorf("%v, want none", none)
	}
}

// TestSpec checks that each form of a name with options is accepted, and that other forms are
// rejected.
func TestSpec(t *testing.T) {
	t.Parallel()
	options := map[string]any{"shape": 0.7, "of": map[string]any{"name": "x"}}
	for _, c := range []struct {
		from  any
		under Spec
		want  Spec
		err   string
	}{
		{"zipf", Spec{"kept", options}, Spec{Name: "zipf"}, ""},
		{map[string]any{"name": "weibull", "shape": 0.7, "of": map[string]any{"name": "x"}}, Spec{}, Spec{"weibull", options}, ""},
		{map[string]any{"name": "weibull", "options": options}, Spec{}, Spec{"weibull", options}, ""},
		{map[string]any{"weibull": options}, Spec{Name: "kept"}, Spec{"weibull", options}, ""},
		{map[string]any{"weibull": nil}, Spec{}, Spec{Name: "weibull"}, ""},
		{map[string]any{"name": "weibull"}, Spec{}, Spec{Name: "weibull"}, ""},
		{map[string]any{"options": options}, Spec{Name: "kept"}, Spec{"kept", options}, ""},
		{map[string]any{"options": options}, Spec{}, Spec{}, "found a mapping without a name"},
		{map[string]any{}, Spec{Name: "kept"}, Spec{}, "found a mapping without a name"},
		{map[string]any{"a": options, "b": options}, Spec{}, Spec{}, "found a mapping without a name"},
		{map[string]any{"weibull": 3}, Spec{}, Spec{}, "s.options: found 3, want a mapping of only options"},
		{map[string]any{"name": "weibull", "options": 3}, Spec{}, Spec{}, "s.options: found 3, want a mapping of only options"},
		{map[string]any{"name": "weibull", "shape": 1, "options": options}, Spec{}, Spec{}, "s.options: found a mapping, want a mapping of only options, or the options next to the name"},
		{map[string]any{"name": []any{1}}, Spec{}, Spec{}, "s.name: found a list, want text"},
		{[]any{1}, Spec{}, Spec{}, "s: found a list, want a name, or a mapping"},
	} {
		s := struct {
			S Spec `yaml:"s"`
		}{c.under}
		err := Of(map[string]any{"s": c.from}).Decode("", &s)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v: error %v, want %q", c.from, err, c.err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(s.S, c.want) {
			t.Errorf("%v: %v, %v, want %v", c.from, s.S, err, c.want)
		}
	}
}
