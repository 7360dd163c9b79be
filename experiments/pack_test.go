package experiments

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bourse/experiments/scenario"
)

// TestPack checks that jobs packed on hosts with several processors start and end at the same
// times as on the same number of processors on single-processor hosts. It tests every policy
// that packs nodes and every order of simultaneous events.
func TestPack(t *testing.T) {
	t.Parallel()
	for n := range uint64(12) {
		rng := rand.New(rand.NewPCG(n, 4))
		hosts, cpus := 1+rng.IntN(5), 2+rng.IntN(7)
		var plan strings.Builder
		plan.WriteString("id,arrival,runtime,estimate,nodes,value\n")
		at := 0
		for id := range 60 {
			at += rng.IntN(20)
			runtime := 1 + rng.IntN(100)
			fmt.Fprintf(&plan, "%d,%d,%d,%d,%d,1\n", id, at, runtime, runtime+rng.IntN(2)*rng.IntN(100), 1+rng.IntN(hosts*cpus+rng.IntN(2)))
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "plan.csv"), []byte(plan.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		times := func(hosts, cpus int, rule string) string {
			text := fmt.Sprintf("name: x\nreplications: 1\nconfigurations:\n  - {name: c, fleet: {hosts: %d, cpus: %d, cap: 1}, workload: {plan: plan.csv, annotate: {sizes: {rule: %s}}}, "+
				"market: {sharing: exclusive, payment: budget, instant: %s}, sla: {enforcement: per-host, of: estimate, slack: 1000, runs_on: true}, admission: [fcfs, easy, {name: edf, admission: none}]}\n",
				hosts, cpus, rule, []string{"ends-first", "submissions-first", "one-by-one"}[n%3])
			e, err := scenario.Parse(filepath.Join(dir, "x.yaml"), []byte(text), scenario.Known{})
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := Each(t.Context(), &e, Options{}, func(r *Replication) error {
				for _, run := range r.Runs {
					for _, j := range run.Jobs {
						fmt.Fprintln(&b, j.ID, j.Contract.Outcome, j.Contract.Began, j.Contract.Ended)
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		got, want := strings.Split(times(hosts, cpus, "pack"), "\n"), strings.Split(times(hosts*cpus, 1, "keep"), "\n")
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("plan %d, %d hosts of %d: %s, want %s as on single processors", n, hosts, cpus, got[i], want[i])
			}
		}
	}
}
