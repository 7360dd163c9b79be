package models

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"bourse/workloadgen"
	"bourse/workloadgen/config"
)

// made creates a model from a name and options as written in files.
func made(t testing.TB, name, options string) (workloadgen.Model, error) {
	t.Helper()
	if options == "" {
		return Table().New(name, nil)
	}
	return Table().New(name, func(out any) error {
		return config.Read("", []byte(options), out)
	})
}

func mustPlan(t testing.TB, name, options string, seed uint64, n int) workloadgen.Plan {
	t.Helper()
	m, err := made(t, name, options)
	if err != nil {
		t.Fatalf("%s: %v", options, err)
	}
	p, err := m.Plan(rand.NewPCG(seed, 0), n, nil)
	if err != nil {
		t.Fatalf("%s: %v", options, err)
	}
	if err := p.Validate(); err != nil {
		t.Fatalf("%s: %v", options, err)
	}
	return p
}

// TestTable checks that every model has a description and rejects unknown options, and that a
// plan depends only on its source and reuses memory.
func TestTable(t *testing.T) {
	t.Parallel()
	for _, name := range Table().Names() {
		options := map[string]string{
			"swf": "file: testdata/small.swf", "resample": "file: testdata/small.swf", "file": "file: testdata/model.yaml",
			"regular": "from: 0",
		}[name]
		if Table().Doc(name) == "" {
			t.Errorf("%s has no line", name)
		}
		if _, err := made(t, name, "colour: red"); err == nil || !strings.Contains(err.Error(), "colour") {
			t.Errorf("%s: error %v, want that colour is unknown", name, err)
		}
		a := mustPlan(t, name, options, 1, 40)
		b := mustPlan(t, name, options, 1, 40)
		if len(a) == 0 || a[0].Arrival != 0 || !slices.Equal(a, b) {
			t.Errorf("%s: %d jobs from %v; the same source gives the same: %v", name, len(a), a[0].Arrival, slices.Equal(a, b))
		}
		m, _ := made(t, name, options)
		c, err := m.Plan(rand.NewPCG(1, 0), 40, mustPlan(t, name, options, 9, 50))
		if err != nil || !slices.Equal(a, c) {
			t.Errorf("%s: in used memory the plan is another (%v)", name, err)
		}
	}
	if _, err := made(t, "poisson", ""); err == nil || !strings.Contains(err.Error(), "want one of ") {
		t.Errorf("error %v, want the names", err)
	}
}

// TestSWF checks that a log's jobs keep their arrivals, runtimes, sizes and estimates, except
// for the changes that options make.
func TestSWF(t *testing.T) {
	t.Parallel()
	all := mustPlan(t, "swf", "file: testdata/small.swf", 1, 0)
	if len(all) != 54 {
		t.Fatalf("%d jobs, want the 54 that ran", len(all))
	}
	ten := mustPlan(t, "swf", "{file: testdata/small.swf, jobs: 10}", 1, 0)
	if !slices.Equal(ten, all[:10]) {
		t.Error("the first ten jobs are not the first ten")
	}
	last := mustPlan(t, "swf", "{file: testdata/small.swf, filter: 'last:10'}", 1, 0)
	if len(last) != 9 || last[0].ID != 51 || last[0].Arrival != 0 {
		t.Errorf("last: %+v", last)
	}
	fast := mustPlan(t, "swf", "{file: testdata/small.swf, delay: 0.5, inaccuracy: 0, sizes: {rule: drop, hosts: 16}}", 1, 0)
	for _, j := range fast {
		was := all[slices.IndexFunc(all, func(a workloadgen.Job) bool { return a.ID == j.ID })]
		if j.Nodes > 16 || j.Estimate != j.Runtime || j.Runtime != was.Runtime || j.Arrival != (was.Arrival-all[slices.IndexFunc(all, func(a workloadgen.Job) bool { return a.ID == fast[0].ID })].Arrival)/2 {
			t.Errorf("job %+v was %+v", j, was)
		}
	}
	dear := mustPlan(t, "swf", "{file: testdata/small.swf, value: {name: pareto}, budget: 100}", 1, 0)
	worths := map[float64]bool{}
	for i, j := range dear {
		worths[j.Worth] = true
		if j.Arrival != all[i].Arrival || j.Value <= 0 || j.Value > 100 {
			t.Errorf("job %+v", j)
		}
	}
	if len(worths) != len(dear) {
		t.Errorf("%d worths of %d jobs", len(worths), len(dear))
	}
	starts := map[int64]bool{}
	for seed := range uint64(20) {
		starts[mustPlan(t, "swf", "{file: testdata/small.swf, jobs: 20, start: random}", seed, 0)[0].ID] = true
	}
	if len(starts) < 5 {
		t.Errorf("twenty plans start at %d places", len(starts))
	}
}

// TestSWFErrors checks that errors name the invalid option.
func TestSWFErrors(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		"{}":                      "file: found nothing, want the name of a log",
		"file: testdata/none.swf": "no such file",
		"{file: testdata/small.swf, filter: 'rain'}":     `filter "rain"`,
		"{file: testdata/small.swf, filter: 'id:99-'}":   "none of 0 records passed the filter",
		"{file: testdata/small.swf, jobs: 55}":           "found 55 jobs requested, want at most 54, the jobs of the log",
		"{file: testdata/small.swf, jobs: -1}":           "jobs: found -1",
		"{file: testdata/small.swf, start: middle}":      `start: found middle`,
		"{file: testdata/small.swf, delay: .nan}":        "delay: found .nan",
		"{file: testdata/small.swf, urgency: {high: 9}}": "urgency.high: found 9",
	} {
		if _, err := made(t, "swf", options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", options, err, want)
		}
	}
}

// TestKTH checks the plan that a scenario takes from the KTH log: 2000
// consecutive jobs on 100 hosts.
func TestKTH(t *testing.T) {
	t.Parallel()
	const path = "../../../shared/traces/KTH-SP2-1996-2.1-cln.swf.gz"
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no recorded trace %s", path)
	}
	plan := mustPlan(t, "swf", "{file: '"+path+"', jobs: 2000, value: pareto, budget: 100}", 1, 0)
	if len(plan) != 2000 || plan[0].ID != 15 || plan[0].Estimate != 53940 {
		t.Errorf("%d jobs, first %+v", len(plan), plan[0])
	}
	for _, j := range plan {
		if j.Nodes > 100 {
			t.Errorf("job %d on %d hosts", j.ID, j.Nodes)
		}
	}
}
