package publication

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bourse/experiments"
	"bourse/experiments/results"
)

// TestDeepWithoutRun checks that a deep audit does not accept results that it cannot run again.
// If it accepted them, an attacker could avoid the audit by stating an older format in the
// manifest.
func TestDeepWithoutRun(t *testing.T) {
	t.Parallel()
	plan := filepath.Join(t.TempDir(), "plan.csv")
	if err := os.WriteFile(plan, []byte("arrival,runtime,nodes,value\n0,100,1,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := published(t, parsed(t, `
name: small
base:
  workload: {plan: `+plan+`}
  admission: [be]
configurations: [{name: a}]
replications: 1
`), results.CSV)
	kept := d.Manifest
	for _, c := range []struct {
		name, want string
		change     func(m *results.Manifest)
	}{
		{"unchanged", "", func(*results.Manifest) {}},
		{"older format", "format", func(m *results.Manifest) { m.Format-- }},
		{"other rules", "rules", func(m *results.Manifest) { m.Rules-- }},
		{"input that is missing", "plan.csv", func(*results.Manifest) { // must be the last case
			if err := os.Remove(plan); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}},
	} {
		for _, deep := range []bool{false, true} {
			d.Manifest = kept
			c.change(&d.Manifest)
			changes, _, err := Rederive(t.Context(), d, noNotes, true, deep, experiments.Options{})
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, x := range changes {
				found = found || x.File == "manifest.json" && strings.Contains(x.Found, c.want) && strings.Contains(x.Want, "because --deep runs the experiment again")
			}
			if found != (deep && c.want != "") {
				t.Errorf("%s, deep %t: found %v", c.name, deep, changes)
			}
		}
	}
}
