package scenario

import (
	"reflect"
	"strings"
	"testing"
)

// TestChoiceForms checks that options may be next to the name or in their own mapping, but not
// both, and that an error has a position in either form.
func TestChoiceForms(t *testing.T) {
	t.Parallel()
	read := func(admission string) (map[string]any, error) {
		e, err := Parse("x.yaml", []byte("name: x\nconfigurations: [{name: a, workload: {model: paper}, admission: ["+admission+"]}]"), Known{})
		if err != nil {
			return nil, err
		}
		var o struct {
			Guarantee float64 `yaml:"guarantee" validate:"gt=0,lt=1"`
		}
		c := e.Configurations[0].Admission[0]
		return c.Options(), c.Decode(&o)
	}
	want, err := read("{name: sac, label: x, guarantee: 0.9}")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := read("{name: sac, label: x, options: {guarantee: 0.9}}"); err != nil || !reflect.DeepEqual(got, want) || len(got) != 1 {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for text, want := range map[string]string{
		"{name: sac, options: {guarantee: 0.9}, window: 3}": "admission.sac.options: found a mapping, want a mapping of only options",
		"{name: sac, options: 3}":                           "admission.sac.options: found 3, want a mapping of only options",
		"{name: sac, options: {guarantee: 1}}":              "x.yaml:2:99: configurations.a.admission.sac.guarantee: found 1, want a number more than 0 and less than 1",
		"{name: sac, options: {garantee: 0.9}}":             "x.yaml:2:88: configurations.a.admission.sac.garantee: unknown field",
		"{name: sac, guarantee: 1}":                         "x.yaml:2:89: configurations.a.admission.sac.guarantee: found 1, want a number more than 0 and less than 1",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
