package policytest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A Case is one example with its exact answer. The expected answers come from an independent
// model of the same rules.
type Case struct {
	ID     string          `json:"id"`
	Kind   string          `json:"kind"`
	Note   string          `json:"note"`
	Input  json.RawMessage `json:"input"`
	Expect map[string]any  `json:"expect"`
}

// Run runs every case of the Libra policies. The cases are in dir, or in the folder that
// BOURSE_GOLDEN_LIBRA names. The function of returns the function that runs a kind of case, or
// nil if another package runs it.
func Run(t *testing.T, dir string, of func(*Case) func(*testing.T, *Case)) {
	t.Helper()
	RunCases(t, "BOURSE_GOLDEN_LIBRA", dir, of)
}

// RunCases runs every case in dir, or in the folder that the environment variable names. The
// function of returns the function that runs a kind of case, or nil if another test runs it.
func RunCases(t *testing.T, variable, dir string, of func(*Case) func(*testing.T, *Case)) {
	t.Helper()
	if other := os.Getenv(variable); other != "" {
		dir = other
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if len(files) == 0 {
		t.Fatalf("no cases in %s", dir)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Cases []Case }
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		for _, c := range file.Cases {
			run := of(&c)
			if run == nil {
				continue
			}
			t.Run(c.ID, func(t *testing.T) {
				t.Parallel()
				run(t, &c)
				if t.Failed() && c.Note != "" {
					t.Log(c.Note)
				}
			})
		}
	}
}

// Same compares a result with the value that the case expects under that name.
func (c *Case) Same(t *testing.T, name string, got any) {
	t.Helper()
	c.compare(t, name, got, differ)
}

// Exact is like Same, but whole numbers must be equal. Other numbers may differ by 1e-9 of the
// greater number, or of 1.
func (c *Case) Exact(t *testing.T, name string, got any) {
	t.Helper()
	c.compare(t, name, got, func(x, want any) string { return within(1e-9, x, want) })
}

// compare compares a result with the value expected under the given name, if there is one. It
// fails the test if differs returns the path of a difference.
func (c *Case) compare(t *testing.T, name string, got any, differs func(x, want any) (path string)) {
	t.Helper()
	want, ok := c.Expect[name]
	if !ok {
		return
	}
	text, _ := json.Marshal(plain(got))
	var x any
	if err := json.Unmarshal(text, &x); err != nil {
		t.Fatal(err)
	}
	if path := differs(x, want); path != "" {
		t.Errorf("%s%s", name, path)
	}
}

// plain returns x with values that JSON cannot represent replaced by words.
func plain(x any) any {
	switch x := x.(type) {
	case float64:
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return strings.TrimPrefix(strings.ToLower(fmt.Sprint(x)), "+")
		}
	case []float64:
		all := make([]any, len(x))
		for i := range x {
			all[i] = plain(x[i])
		}
		return all
	case map[string]any:
		all := map[string]any{}
		for k := range x {
			all[k] = plain(x[k])
		}
		return all
	}
	return x
}

// differ returns the path at which got differs from want, or "" if they do not differ. Numbers
// may differ by 1e-6 of the greater number, or of 1.
func differ(got, want any) string { return within(1e-6, got, want) }

// within is like differ, but with the given tolerance. If the tolerance is below 1e-6, whole
// numbers must be equal.
func within(tolerance float64, got, want any) string {
	bad := fmt.Sprintf(" = %v, want %v", got, want)
	switch want := want.(type) {
	case float64:
		got, ok := got.(float64)
		if ok && (tolerance == 1e-6 || want != math.Trunc(want)) && math.Abs(got-want) <= tolerance*max(1, math.Abs(got), math.Abs(want)) || ok && got == want {
			return ""
		}
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			return bad
		}
		for i := range want {
			if d := within(tolerance, got[i], want[i]); d != "" {
				return fmt.Sprintf("[%d]%s", i, d)
			}
		}
		return ""
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok || len(got) < len(want) {
			return bad
		}
		for _, k := range slices.Sorted(maps.Keys(want)) {
			if d := within(tolerance, got[k], want[k]); d != "" {
				return "." + k + d
			}
		}
		return ""
	default:
		if got == want {
			return ""
		}
	}
	return bad
}
