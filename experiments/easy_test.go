package experiments

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"bourse/experiments/scenario"
)

// starts reads lines of a job and its start.
func starts(t *testing.T, name string) map[int64]float64 {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "easy", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[int64]float64)
	for in := bufio.NewScanner(z); in.Scan(); {
		var job int64
		var start float64
		if _, err := fmt.Sscan(in.Text(), &job, &start); err != nil {
			t.Fatal(err)
		}
		all[job] = start
	}
	return all
}

// TestStarts checks every start of a log of 30,000 jobs on 1,152 processors against other
// simulators: of FCFS four programs agree on them; of EASY they are those of pyss, which
// takes the events of an instant one by one. (Where all ends of an instant come before
// the queue is looked at, nine starts of EASY differ: whoever needs what two free together
// is not overtaken then.)
func TestStarts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs 60,000 jobs")
	}
	for _, policy := range []string{"fcfs", "easy"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			e, err := scenario.Parse("starts", []byte(fmt.Sprintf(`
name: starts
replications: 1
configurations:
  - name: log
    fleet: {hosts: 1152, cpus: 1, cap: 1}
    workload: {swf: testdata/easy/log.swf.gz, filter: ran, annotate: {price: 0.001}}
    market: {sharing: exclusive, payment: budget, instant: one-by-one}
    sla: {enforcement: per-host, deadline: hard, of: estimate, slack: 1e6, runs_on: true}
    admission: [%s]
`, policy)), scenario.Known{})
			if err != nil {
				t.Fatal(err)
			}
			want, first, differ := starts(t, policy+".starts.gz"), 74.0, 0 // when the first job arrives, which is 0 in a plan
			err = Each(t.Context(), &e, Options{}, func(r *Replication) error {
				for i := range r.Runs[0].Jobs {
					id, got := r.Runs[0].Records[i].ID, r.Runs[0].Jobs[i].Start+first
					if got != want[id] {
						differ++
					}
				}
				if n := len(r.Runs[0].Jobs); n != len(want) {
					t.Errorf("%d jobs, want %d", n, len(want))
				}
				return nil
			})
			if err != nil || differ > 0 {
				t.Errorf("%d starts differ; %v", differ, err)
			}
		})
	}
}
