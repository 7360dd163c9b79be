package experiments

import (
	"os"
	"path/filepath"
	"testing"

	"bourse/experiments/metrics"
)

// TestPauses checks that a cluster whose jobs are suspended is used by those that run
// alone: of a host of one node, for the 40 s until the last arrival, 10 s by the job that
// is urgent and 30 s by the one that it interrupts.
func TestPauses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plan.csv")
	plan := "id,arrival,runtime,deadline,nodes,value\n1,0,60,500,1,1\n2,10,10,11,1,1\n3,40,5,400,1,1\n"
	if err := os.WriteFile(path, []byte(plan), 0o644); err != nil {
		t.Fatal(err)
	}
	e := parsed(t, `
name: pauses
replications: 1
configurations:
  - name: one
    fleet: {hosts: 1, cpus: 1}
    workload: {plan: `+path+`}
    market: {sharing: planned}
    admission: [{name: reserve, preempt: true}]
`)
	run(t, e, 1, func(r *Replication) {
		o := &r.Runs[0].Outcome
		if u, ok := metrics.ClusterUtilization.Of(o); !ok || u != 1 || len(o.Pauses) != 2 || o.Pauses[0].From != 10 || o.Pauses[0].To != 20 {
			t.Errorf("utilization %v with pauses %v, want 1 with two, the first from 10 to 20 s", u, o.Pauses)
		}
	})
}
