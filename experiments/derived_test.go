package experiments

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestUnderestimated checks that the page states how many promises cannot be kept if deadlines
// are computed from estimates. In the test, one job of three runs longer than its estimate, and
// none longer than twice its estimate.
func TestUnderestimated(t *testing.T) {
	t.Parallel()
	plan := filepath.Join(t.TempDir(), "plan.csv")
	if err := os.WriteFile(plan, []byte("arrival,runtime,estimate,nodes,value\n0,10,10,1,1\n1,15,10,1,1\n2,5,10,1,1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const note = "few: 1 of 3 jobs run longer than estimated. Policies that rely on the estimate, such as cac, cannot keep their promises to these jobs."
	for sets, want := range map[string]bool{"base.sla.of=estimate": true, "base.sla.of=plan": false, "base.sla.slack=2": false} {
		e := parsed(t, `
name: few
base:
  workload: {plan: `+plan+`}
  sla: {of: estimate}
  admission: [cac]
configurations: [few]
`, sets)
		all, err := settings(e, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(notes(all), note); got != want {
			t.Errorf("%s: noted %v, want %v: %q", sets, got, want, notes(all))
		}
	}
}
