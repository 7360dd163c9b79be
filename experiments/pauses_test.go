package experiments

import (
	"os"
	"path/filepath"
	"testing"

	"bourse/contracts"
	"bourse/experiments/metrics"
)

// TestPauses checks the utilization of a cluster whose jobs are suspended. On a host with
// one node, in the 40 s until the last arrival, the urgent job uses 10 s and the job that
// it interrupts uses 30 s.
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
		var pauses []contracts.Pause
		for _, j := range r.Runs[0].Jobs {
			if b := j.Contract.Booked; b != nil {
				pauses = append(pauses, b.Paused...)
			}
		}
		if u, ok := metrics.ClusterUtilization.Of(&r.Runs[0].Outcome); !ok || u != 1 || len(pauses) != 2 || pauses[0].From != 10 || pauses[0].To != 20 {
			t.Errorf("utilization %v with pauses %v, want 1 with two, the first from 10 to 20 s", u, pauses)
		}
	})
}

// TestPartsUse checks that a job in two parts uses each cluster for the time that its part
// takes there. In the 20 s until the last arrival, that is one node for 10 s on the first
// cluster and, at half the speed, for 20 s on the second. A part that is open when the
// market closes counts as unused, even if the first part has ended.
func TestPartsUse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		last, more string
		want       float64
		start, end float64 // start and end of the job
	}{
		{"20", "", 0.75, 0, 20},
		{"12", "\n    horizon: 15", 0, 0, 15},
	} {
		path := filepath.Join(t.TempDir(), "plan.csv")
		plan := "id,arrival,runtime,deadline,nodes,value,parts\n1,0,10,50,2,1,2\n2," + c.last + ",2,400,1,1,\n"
		if err := os.WriteFile(path, []byte(plan), 0o644); err != nil {
			t.Fatal(err)
		}
		e := parsed(t, `
name: parts
replications: 1
configurations:
  - name: one
    fleet: {hosts: 2, cpus: 1, speeds: [1, 0.5]}
    workload: {plan: `+path+`}
    market: {sharing: planned, payment: budget}
    admission: [{name: reserve}]`+c.more+"\n")
		run(t, e, 1, func(r *Replication) {
			j := &r.Runs[0].Jobs[0].Contract
			if j.Began != c.start || j.Ended != c.end || j.Booked == nil || len(j.Booked.Placements) != 2 {
				t.Errorf("last at %s: from %v to %v in %+v, want %v to %v in two parts", c.last, j.Began, j.Ended, j.Booked, c.start, c.end)
			}
			if u, ok := metrics.ClusterUtilization.Of(&r.Runs[0].Outcome); !ok || u != c.want {
				t.Errorf("last at %s: utilization %v, want %v", c.last, u, c.want)
			}
		})
	}
}
