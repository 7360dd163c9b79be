package experiments

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"bourse/experiments/papers"
	"bourse/experiments/scenario"
)

// TestSweepDraws checks that all points of a sweep use the same random draws. Points that
// differ in a setting that a policy ignores must have the same results, and a longer sweep
// must not change existing points.
func TestSweepDraws(t *testing.T) {
	t.Parallel()
	const file = `
name: draws
replications: 2
base: {workload: {model: paper}, admission: [be, sac]}
configurations: [low]
`
	points := func(sweep string) map[string]*Replication {
		e, err := scenario.Parse("draws", []byte(file+sweep), scenario.Known{})
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]*Replication{}
		if err := Each(context.Background(), &e, Options{Workers: 2}, func(r *Replication) error {
			all[e.Expanded().Configurations[r.Configuration].Name] = r
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	one := points("sweep: [{path: needs.min.memory, values: [0]}, {path: admission.sac.guarantee, values: [0.5, 0.9]}]")
	two := points("sweep: [{path: admission.sac.guarantee, values: [0.9, 0.1]}]")
	if a, b := one["low@0,0.5"].Runs, one["low@0,0.9"].Runs; !reflect.DeepEqual(a[0].Jobs, b[0].Jobs) {
		t.Error("best effort came out differently at two guarantees of sac")
	} else if reflect.DeepEqual(a[1].Jobs, b[1].Jobs) {
		t.Error("sac came out the same at guarantees of 0.5 and 0.9")
	}
	if !reflect.DeepEqual(one["low@0,0.9"].Runs[1].Jobs, two["low@0.9"].Runs[1].Jobs) {
		t.Error("a point depends on the others")
	}
}

// TestDerived checks that an attribute that the workload lacks is either derived, with a note,
// or reported as missing.
func TestDerived(t *testing.T) {
	t.Parallel()
	e, err := scenario.Parse("mixed", papers.Presets()["mixed"], scenario.Known{}, "replications=1", "configurations.sp2.workload.model.jobs=20")
	if err != nil {
		t.Fatal(err)
	}
	all, err := settings(&e, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(notes(all), "\n")
	for _, want := range []string{
		"market: deadlines are derived: each one is 2 times the quantity in sla.of (plan).",
		"sp2: budgets are derived: each one is $0.0001 per processor-second, multiplied by the job's worth, drawn from pareto.",
		"sp2: deadlines are derived: each one is the runtime times a random factor that depends on the urgency class.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("notes\n%s\nwant %s", got, want)
		}
	}
	e, err = scenario.Parse("mixed", papers.Presets()["mixed"], scenario.Known{}, "configurations.sp2.workload.annotate.price=0")
	if err != nil {
		t.Fatal(err)
	}
	err = Each(context.Background(), &e, Options{}, func(*Replication) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "configuration sp2, replication 0: no job has a budget") {
		t.Errorf("error %v, want that no job has a budget", err)
	}
	if err := Check(&e); err == nil || !strings.Contains(err.Error(), "configuration sp2: no job has a budget") {
		t.Errorf("checked: %v, want that no job has a budget", err)
	}
}

// TestSharing checks that a policy's own sharing rule replaces the market's rule only for
// that policy.
func TestSharing(t *testing.T) {
	t.Parallel()
	const file = `
name: sharing
replications: 1
configurations:
  - name: c
    workload: {model: paper}
    sla: {enforcement: per-host, slack: 2, runs_on: true}
    admission: [be, {name: be, label: other}, {name: be, label: own, sharing: deadline}]
`
	e, err := scenario.Parse("sharing", []byte(file), scenario.Known{})
	if err != nil {
		t.Fatal(err)
	}
	run(t, &e, 1, func(r *Replication) {
		market, other, own := r.Runs[0].Jobs, r.Runs[1].Jobs, r.Runs[2].Jobs
		if !reflect.DeepEqual(market, other) {
			t.Error("two best efforts by auction came out differently")
		}
		if reflect.DeepEqual(market, own) {
			t.Error("best effort shared by deadline came out as by auction")
		}
	})
}
