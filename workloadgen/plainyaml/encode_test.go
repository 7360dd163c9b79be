package plainyaml

import (
	"reflect"
	"testing"

	"github.com/goccy/go-yaml"
	second "go.yaml.in/yaml/v4"
	"pgregory.net/rapid"
)

// TestMarshal checks that whatever is written reads back the same, by another reader
// too.
func TestMarshal(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[-+0-9.exob_:?&*!#~ "'a\[{},|>%@=\t\r\n]{0,6}`), rapid.SampledFrom([]string{"yes", "null", "true", "~", "1e3", "017", "x\r", "?", "<<", "", "0e0_", "-_1", "._5"}))
	key := rapid.OneOf(rapid.StringMatching(`[a-z_0-9.]{1,6}`), rapid.SampledFrom([]string{"a: b", "x y", "#", "- z", "it's"})).Filter(func(s string) bool { return !UnclearKey(s) })
	scalar := rapid.OneOf(text.AsAny(), rapid.Int64().AsAny(), rapid.Float64().AsAny(), rapid.Bool().AsAny(), rapid.Just(any(nil)))
	list := rapid.SliceOfN(rapid.OneOf(scalar, rapid.SliceOfN(scalar, 0, 3).AsAny(), rapid.MapOfN(key, scalar, 0, 3).AsAny()), 0, 3)
	tree := rapid.MapOfN(key, rapid.OneOf(scalar, list.AsAny(), rapid.MapOfN(key, list.AsAny(), 0, 3).AsAny()), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		want := tree.Draw(t, "tree")
		text, err := Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if err := Unmarshal(text, &got); err != nil || !reflect.DeepEqual(plain(got), plain(want)) {
			t.Fatalf("%#v is written\n%sand read as %#v, %v", want, text, got, err)
		}
		var other any
		if err := second.Unmarshal(text, &other); err != nil || !reflect.DeepEqual(plain(other), plain(want)) {
			t.Fatalf("%#v is written\n%sand read by another as %#v, %v", want, text, other, err)
		}
	})
}

// TestMarshalLayout checks that the layout is the usual one.
func TestMarshalLayout(t *testing.T) {
	t.Parallel()
	v := yaml.MapSlice{{Key: "about", Value: []any{"fitted to trace.swf: 3 jobs", "a b"}}, {Key: "options", Value: yaml.MapSlice{
		{Key: "iat", Value: yaml.MapSlice{{Key: "name", Value: "hypweib"}}}, {Key: "jobs", Value: 5}, {Key: "load", Value: 1000.0}, {Key: "none", Value: nil},
		{Key: "parts", Value: []any{yaml.MapSlice{{Key: "a", Value: 1e-9}, {Key: "b", Value: true}}, []any{1, 2}}},
	}}}
	want, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := Unmarshal(want, &tree); err != nil {
		t.Fatal(err)
	}
	if got, err := Marshal(tree); err != nil || string(got) != string(want) {
		t.Errorf("%s, %v, want\n%s", got, err, want)
	}
}
