package experiments

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"bourse/experiments/scenario"
)

// TestFollow checks with hand-computed times when jobs that follow others arrive. They arrive
// when their think time has passed after the predecessor ended, was killed, cancelled or
// rejected in this run. If the predecessor is not in the run, they arrive at the recorded time.
// If the predecessor does not end, they do not arrive.
func TestFollow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, jobs, more string
		want             string // number, arrival and outcome of each job, in the order of arrival
	}{
		{"ended", "1,0,10,1,0,0\n2,0,20,1,1,5\n3,1,5,1,2,0\n", "", "1@0 fulfilled, 2@15 fulfilled, 3@35 fulfilled"},
		{"two follow one, ties by the plan", "1,0,10,1,0,0\n2,3,20,1,1,0\n3,3,5,1,1,0\n4,10,1,1,0,0\n", "", "1@0 fulfilled, 2@10 fulfilled, 3@10 fulfilled, 4@10 fulfilled"},
		{"rejected", "1,0,10,9,0,0\n2,0,20,1,1,5\n", "", "1@0 refused, 2@5 fulfilled"},
		{"rejected, no think time", "1,0,10,9,0,0\n2,0,20,1,1,0\n3,0,1,1,2,2\n", "", "1@0 refused, 2@0 fulfilled, 3@22 fulfilled"},
		{"killed", "1,0,10,1,0,0\n2,0,4,1,1,5\n", "sla: {of: runtime, slack: 0.5, deadline: hard}, ", "1@0 late, 2@10 late"},
		{"open at the horizon", "1,0,100,1,0,0\n2,0,4,1,1,5\n3,20,4,1,0,0\n", "horizon: 50, ", "1@0 unfinished, 3@20 fulfilled"},
		{"ignored", "1,0,10,1,0,0\n2,1,20,1,1,5\n", "preceding: ignored", "1@0 fulfilled, 2@1 fulfilled"},
		{"dropped", "1,0,10,9,0,0\n2,7,20,1,1,5\n3,8,1,1,2,5\n", "annotate: {sizes: {rule: drop, hosts: 4}}", "2@0 fulfilled, 3@25 fulfilled"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "plan.csv"), []byte("id,arrival,runtime,nodes,after,think,value\n"+withValue(c.jobs)), 0o600); err != nil {
			t.Fatal(err)
		}
		work, more := "plan: plan.csv", c.more
		if c.name == "ignored" || c.name == "dropped" {
			work, more = work+", "+c.more, ""
		}
		text := fmt.Sprintf("name: x\nreplications: 1\nconfigurations:\n  - {name: c, fleet: {hosts: 4, cpus: 1}, %sworkload: {%s}, market: {sharing: exclusive, payment: budget}, admission: [{name: edf, admission: none}]}\n", more, work)
		e, err := scenario.Parse(filepath.Join(dir, "x.yaml"), []byte(text), scenario.Known{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var got string
		if err := Each(t.Context(), &e, Options{}, func(r *Replication) error {
			for _, j := range r.Runs[0].Jobs {
				if got != "" {
					got += ", "
				}
				got += fmt.Sprintf("%d@%v %v", j.ID, j.Arrival, j.Contract.Outcome)
			}
			return nil
		}); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// withValue adds a value to each row of a plan.
func withValue(rows string) string {
	out := ""
	for _, c := range rows {
		if c == '\n' {
			out += ",1"
		}
		out += string(c)
	}
	return out
}
