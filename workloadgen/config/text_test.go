package config

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/goccy/go-yaml"
	"pgregory.net/rapid"
)

// TestYAML checks that written values are read back unchanged, including by a second reader.
func TestYAML(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[-+0-9.exob_:?&*!#~ "'a\[{},|>%@=\t\r\n]{0,6}`), rapid.SampledFrom([]string{"yes", "null", "true", "~", "1e3", "017", "x\r", "?", "<<", "", "0e0_", "-_1", "._5"}))
	key := rapid.OneOf(rapid.StringMatching(`[a-z_0-9.]{1,6}`), rapid.SampledFrom([]string{"a: b", "x y", "#", "- z", "it's"})).Filter(func(s string) bool { return !unclearKey(s) })
	scalar := rapid.OneOf(text.AsAny(), rapid.Int64().AsAny(), rapid.Float64().AsAny(), rapid.Bool().AsAny(), rapid.Just(any(nil)))
	list := rapid.SliceOfN(rapid.OneOf(scalar, rapid.SliceOfN(scalar, 0, 3).AsAny(), rapid.MapOfN(key, scalar, 0, 3).AsAny()), 0, 3)
	tree := rapid.MapOfN(key, rapid.OneOf(scalar, list.AsAny(), rapid.MapOfN(key, list.AsAny(), 0, 3).AsAny()), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		want := tree.Draw(t, "tree")
		text := Of(want).YAML()
		var got any
		if err := Read("", text, &got); err != nil || !reflect.DeepEqual(numbers(got), numbers(want)) {
			t.Fatalf("%#v is written\n%sand read as %#v, %v", want, text, got, err)
		}
		var other any
		if err := yaml.Unmarshal(text, &other); err != nil || !reflect.DeepEqual(numbers(other), numbers(want)) {
			t.Fatalf("%#v is written\n%sand read by another as %#v, %v", want, text, other, err)
		}
	})
}

// TestLayout checks the layouts of a tree: lines, one line and JSON.
func TestLayout(t *testing.T) {
	t.Parallel()
	type fleet struct {
		Hosts  int       `yaml:"hosts" doc:"number of hosts"`
		Speeds []float64 `yaml:"speeds" doc:"speeds of hosts"`
	}
	n := Of(struct {
		About  []string       `yaml:"about"`
		Fleets []fleet        `yaml:"fleets" doc:"what is compared"`
		Rest   map[string]any `yaml:"rest"`
		None   *fleet         `yaml:"none" doc:"nothing"`
	}{
		[]string{"a b", "on", "x"}, []fleet{{3, []float64{0.5, 1e21}}, {4, nil}},
		map[string]any{"a": []any{map[string]any{"b c": true}, []any{"<é>\n", nil}}, "d": map[string]any{}}, nil,
	})
	const want = `about: ["a b", "on", x]
# what is compared
fleets:
  - hosts: 3 # number of hosts
    # speeds of hosts
    speeds: [0.5, 1e+21]
  - hosts: 4
    speeds: []
rest:
  a:
    - "b c": true
    - - "<é>\n"
      - null
  d: {}
none: null # nothing
`
	if got := string(n.YAML()); got != want {
		t.Errorf("YAML is\n%s, want\n%s", got, want)
	}
	const flow = `{about: ["a b", "on", x], fleets: [{hosts: 3, speeds: [0.5, 1e+21]}, {hosts: 4, speeds: []}], rest: {a: [{"b c": true}, ["<é>\n", null]], d: {}}, none: null}`
	if got := n.Flow(); got != flow {
		t.Errorf("flow is\n%s, want\n%s", got, flow)
	}
	back, err := Parse("", n.YAML())
	if err != nil || !back.Get("fleets").Equal(n.Get("fleets")) {
		t.Errorf("read back as %s, %v", back.Flow(), err)
	}
	var x any
	if err := json.Unmarshal(n.JSON(), &x); err != nil || !reflect.DeepEqual(x.(map[string]any)["about"], []any{"a b", "on", "x"}) {
		t.Errorf("JSON is %s, %v", n.JSON(), err)
	}
}
