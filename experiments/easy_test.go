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

// starts reads lines that contain a job number and the start of the job.
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

// TestStarts compares every start of a log of 30,000 jobs on 1,152 processors with other
// simulators. For FCFS, four programs agree. For EASY, the starts are those of pyss, which
// processes simultaneous events one by one. (If all simultaneous ends are processed before
// the queue, nine starts of EASY differ, because a job that needs the processors freed by
// two ends is then not overtaken.)
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
			want, first, differ := starts(t, policy+".starts.gz"), 74.0, 0 // arrival of the first job, which is 0 in a plan
			err = Each(t.Context(), &e, Options{}, func(r *Replication) error {
				for i := range r.Runs[0].Jobs {
					id, got := r.Runs[0].Jobs[i].ID, r.Runs[0].Jobs[i].Contract.Admitted+first
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

// TestKilledOneByOne checks tasks that are stopped at the same time because they exceeded their
// estimates, on hosts with several tasks. Jobs 3 to 6 end after 50 s. Two jobs of 1000 s run on
// another host.
func TestKilledOneByOne(t *testing.T) {
	t.Parallel()
	plan := "id,user,arrival,runtime,nodes,value,deadline,estimate\n1,1,0,1000,1,5,1010,1000\n2,1,0,1000,1,5,1010,1000\n"
	for id := 3; id <= 6; id++ {
		plan += fmt.Sprintf("%d,1,0,100,1,5,60,50\n", id)
	}
	file := filepath.Join(t.TempDir(), "plan.csv")
	if err := os.WriteFile(file, []byte(plan), 0o644); err != nil {
		t.Fatal(err)
	}
	e := parsed(t, fmt.Sprintf(`
name: killed
replications: 1
configurations:
  - name: one
    fleet: {hosts: 4, cpus: 2, cap: 1}
    workload: {plan: %s}
    market: {sharing: {name: deadline, overrun: kill}, payment: budget, instant: one-by-one}
    sla: {enforcement: per-host, deadline: hard, of: plan}
    admission: [libra]
`, file))
	if err := Each(t.Context(), e, Options{}, func(r *Replication) error {
		for i, j := range r.Runs[0].Jobs {
			if want := []float64{1000, 1000, 50, 50, 50, 50}[i]; j.Contract.Ended != want {
				t.Errorf("job %d ends at %v, want %v", i+1, j.Contract.Ended, want)
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
