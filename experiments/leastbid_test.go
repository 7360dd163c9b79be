package experiments

import (
	"os"
	"path/filepath"
	"testing"

	"bourse/contracts"
)

// TestLeastBid checks that a queue under auction sharing completes every admitted job, even
// if the budget is too small or too large for a spending rate. A task with a bid of zero
// would get no share, and a contract without a hard deadline would never end.
func TestLeastBid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plan := "id,arrival,runtime,deadline,nodes,value\n1,0,100,2000000,1,0.000001\n2,0,100,0.00001,1,1000000\n"
	if err := os.WriteFile(filepath.Join(dir, "plan.csv"), []byte(plan), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, policy := range []string{"fcfs", "easy", "edf", "libra", "librarisk", "queue"} {
		e := parsed(t, `
name: least
replications: 1
configurations:
  - name: one
    fleet: {hosts: 2}
    workload: {plan: `+filepath.Join(dir, "plan.csv")+`}
    sla: {deadline: soft}
    admission: [`+policy+`]
`)
		run(t, e, 1, func(r *Replication) {
			for _, j := range r.Runs[0].Jobs {
				if j.Contract.Outcome == contracts.Open {
					t.Errorf("%s: job %d never ends", policy, j.ID)
				}
			}
		})
	}
}
