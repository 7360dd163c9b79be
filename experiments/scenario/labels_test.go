package scenario

import "testing"

// TestRepeatedPolicy checks that policies with the same name, other options and no label get
// numbers, which explicit labels do not repeat.
func TestRepeatedPolicy(t *testing.T) {
	t.Parallel()
	e, err := Parse("x.yaml", []byte(`name: x
configurations:
  - {name: c, workload: {model: paper}, admission: [be, {name: cac, guarantee: 0.8}, {name: be, label: cac-2}, {name: cac, guarantee: 0.9}, {name: be, negotiate: rational}]}
`), Known{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"be", "cac", "cac-2", "cac-3", "be-2"} {
		if got := e.Configurations[0].Admission[i].Label; got != want {
			t.Errorf("policy %d has the label %q, want %q", i, got, want)
		}
	}
}
