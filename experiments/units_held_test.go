package experiments

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHeldUnits checks that jobs of a plan hold memory and units until they end. If too little
// is free, a job is rejected with the reason "no room". A job that even idle hosts could not
// run is rejected with the reason "too few hosts".
func TestHeldUnits(t *testing.T) {
	t.Parallel()
	plan := filepath.Join(t.TempDir(), "plan.csv")
	text := `id,arrival,runtime,deadline,nodes,value,gpus,memory
1,0,30,60,1,1,1,0
2,1,30,60,1,1,1,1e9
3,2,30,60,1,1,1,0
4,3,30,60,1,1,0,8e9
5,4,30,60,2,1,0,8e9
6,5,30,60,1,1,2,0
7,100,30,60,2,1,1,8e9
`
	if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e := parsed(t, fmt.Sprintf(`
name: units
replications: 1
base:
  fleet: {hosts: 2, cpus: 8, cap: 1, memory: 8e9, count: {gpu: 1, tape: 1}}
  workload: {plan: %s}
  admission: [be]
configurations: [{name: one}]
`, plan))
	sets, err := settings(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	err = newWorkspace().each(t.Context(), e, sets, &Replication{}, Options{}, func(_ int, run *Run) error {
		for i := range run.Jobs {
			got = append(got, string(run.Jobs[i].Reason))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := "||no room||no room|too few hosts|"; strings.Join(got, "|") != want {
		t.Errorf("reasons %q, want %q", strings.Join(got, "|"), want)
	}
	if _, err := settings(parsed(t, "name: x\nreplications: 1\nbase:\n  fleet: {count: {GPU: 1}}\n  workload: {plan: "+plan+"}\n  admission: [be]\nconfigurations: [{name: one}]\n"), nil); err == nil || !strings.Contains(err.Error(), "fleet.count: found GPU: 1") {
		t.Errorf("error %v, want one that names fleet.count", err)
	}
}
