package experiments

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bourse/experiments/metrics"
)

// TestCheckDraws checks that the check of a scenario generates a model's jobs like a run. A log
// with few jobs is sufficient if the scenario needs few jobs. The check refuses jobs without a
// budget and a plan that cannot be generated.
func TestCheckDraws(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := filepath.Join(dir, "log.swf")
	if err := os.WriteFile(log, []byte("1 0 -1 30 1 -1 -1 1 30 -1 1 1 1 1 1 1 -1 -1\n2 5 -1 30 1 -1 -1 1 30 -1 1 1 1 1 1 1 -1 -1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ workload, want string }{
		{"model: {name: swf, file: " + log + ", jobs: 2, start: random}", "no job has a budget"},
		{"{model: {name: swf, file: " + log + ", jobs: 2, start: random}, annotate: {price: 1}}", ""},
		{"{model: {name: swf, file: " + log + ", jobs: 1}, annotate: {urgency: {sla: true, high: 1, penalty: {low: 1000000, ratio: 1000000}}}}", "exceed a plan's limits"},
	} {
		text := "name: draws\nconfigurations:\n  - name: one\n    admission: [be]\n    workload: "
		if strings.HasPrefix(c.workload, "{") {
			text += c.workload + "\n"
		} else {
			text += "{" + c.workload + "}\n"
		}
		err := Check(parsed(t, text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.workload, err, c.want)
		}
		if strings.Contains(c.want, "budget") && !errors.Is(err, errNoBudget) {
			t.Errorf("%s: %v is another error", c.workload, err)
		}
	}
}

// TestCheckAgrees checks that the check refuses a scenario exactly if the run refuses it, when
// it is random whether any of a few jobs has a budget.
func TestCheckAgrees(t *testing.T) {
	t.Parallel()
	refused, seeds := 0, uint64(20)
	for seed := range seeds {
		e := parsed(t, `
name: agree
replications: 1
configurations:
  - name: one
    workload:
      model: {name: lublin, jobs: 3, users: 2, size: 64}
      annotate: {sizes: {rule: drop, hosts: 1}, price: 1}
    admission: [be]
`)
		e.Seed = seed
		checked := Check(e)
		ran := Each(t.Context(), e, Options{Workers: 1}, func(*Replication) error { return nil })
		if errors.Is(checked, errNoBudget) != errors.Is(ran, errNoBudget) || (checked == nil) != (ran == nil) {
			t.Errorf("seed %d: checked: %v; run: %v", seed, checked, ran)
		}
		if checked != nil {
			refused++
		}
	}
	if refused == 0 || refused == int(seeds) {
		t.Errorf("%d of %d seeds are refused: want some", refused, seeds)
	}
}

// TestNoBudgetByChance checks that a replication runs unchanged if by chance none of its jobs
// has a budget, but some job of the first replication has one. In this test, it is random
// whether any size fits.
func TestNoBudgetByChance(t *testing.T) {
	t.Parallel()
	e := parsed(t, `
name: chance
seed: 2
replications: 6
configurations:
  - name: one
    workload:
      model: {name: lublin, jobs: 7, users: 2, size: 64, set: farooq2006}
      annotate: {sizes: {rule: drop, hosts: 1}, urgency: {sla: true}}
    admission: [be]
`)
	if err := Check(e); err != nil {
		t.Fatal(err)
	}
	empty := 0
	run(t, e, 1, func(r *Replication) {
		if len(r.Runs[0].Jobs) == 0 {
			empty++
		}
	})
	if empty == 0 || empty == e.Replications {
		t.Errorf("%d of %d replications are empty: want some", empty, e.Replications)
	}
}

// TestOpenWarmup checks that a job of the warm-up that is open at the horizon is not
// measured. One host must be in use for exactly the 10 s from the first measured job on.
func TestOpenWarmup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"plan.csv":  "id,arrival,runtime,nodes,value\n1,0,500,1,1\n2,90,500,1,1\n",
		"trace.csv": "resource,start,end,state\nm0,0,1000,A\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	e := parsed(t, `
name: warm
replications: 1
configurations:
  - name: one
    fleet: {hosts: 1, cpus: 2, availability: {file: `+dir+`/trace.csv}}
    workload: {plan: `+dir+`/plan.csv, warmup: 0.5}
    horizon: 100
    admission: [be]
`)
	run(t, e, 1, func(r *Replication) {
		o := &r.Runs[0].Outcome
		if u, ok := metrics.Utilization.Of(o); !ok || u != 0.5 || len(o.Open) != 1 {
			t.Errorf("utilization %v with %d jobs open, want 0.5 with 1", u, len(o.Open))
		}
	})
}
