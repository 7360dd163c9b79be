package experiments

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bourse/contracts/broker"
	"bourse/contracts/policies"
	"bourse/contracts/sharing"
	"bourse/experiments/metrics"
	"bourse/experiments/scenario"
	"bourse/market/forecast"
	"bourse/workloadgen/models"
)

// reserved returns a scenario with a few reservations.
func reserved(t testing.TB, file string, sets ...string) *scenario.Experiment {
	t.Helper()
	text, err := os.ReadFile("papers/reservations/" + file + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	e, err := scenario.Parse(file, text, scenario.Known{
		Admission: policies.Table(nil, nil).Names(), Sharing: sharing.Table().Names(), Bidding: []string{"cheapest"},
		Forecasters: forecast.Table().Names(), Models: models.Table().Names(), Payments: broker.Payments().Names(),
	}, append([]string{"replications=2", "base.workload.model.jobs=250"}, sets...)...)
	if err != nil {
		t.Fatal(err)
	}
	return &e
}

// TestReserveRefused checks that two settings are refused before a run with a reservation book:
// ends are processed after submissions at the same time, and hosts are shared by a rule other
// than the book's own.
func TestReserveRefused(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{
		"base.market.instant=submissions-first": "requires market.instant: ends-first",
		"base.market.sharing=auction":           "found sharing auction, want planned",
	} {
		if err := Check(reserved(t, "e9", set)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: checked with %v, want %s", set, err, want)
		}
	}
}

// TestWithoutBudget checks that a job without value is rejected under any policy, and that
// a job without a deadline causes no problem for policies that use deadlines.
func TestWithoutBudget(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "plan.csv")
	plan := "id,arrival,runtime,nodes,value,on_demand\n1,0,10,1,0,false\n2,0,10,1,5,true\n3,1,10,1,5,false\n4,2,10,1,0,true\n"
	if err := os.WriteFile(file, []byte(plan), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, p := range [][2]string{{"be", "auction"}, {"cac", "auction"}, {"libra", "deadline"}, {"librarisk", "deadline"}, {"librasla", "librasla"}, {"edf", "exclusive"}, {"fcfs", "exclusive"}, {"easy", "exclusive"}, {"reserve", "planned"}} {
		text := fmt.Sprintf("name: x\nreplications: 1\nbase: {fleet: {hosts: 2, cpus: 1}, workload: {plan: %s}, market: {payment: budget, sharing: %s}}\nconfigurations:\n  - {name: c, admission: [%s]}\n", file, p[1], p[0])
		e, err := scenario.Parse("test", []byte(text), scenario.Known{})
		if err != nil {
			t.Fatal(err)
		}
		err = Each(t.Context(), &e, Options{}, func(r *Replication) error {
			for i, j := range r.Runs[0].Jobs {
				if j.Value == 0 && j.Admitted() || i == 1 && !j.Admitted() && p[0] != "librasla" {
					t.Errorf("%s: job %d, of $%v, is admitted: %v", p[0], i+1, j.Value, j.Admitted())
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", p[0], err)
		}
	}
}

// TestReservationsMetamorphic checks relations of A.10 through the whole engine. On one
// cluster, all matchmakers are equal. If all jobs are reservations without laxity and all
// speeds are equal, FF, IMCT and MLI are equal. If all jobs are on-demand jobs, none is
// rejected. With true estimates, no reservation is late and no job is killed.
func TestReservationsMetamorphic(t *testing.T) {
	t.Parallel()
	jobs := func(sets ...string) map[string][]metrics.Job {
		out := make(map[string][]metrics.Job)
		run(t, reserved(t, "e1", append(sets, "sweep=[]", "replications=1", "base.workload.annotate.load.target=1")...), 1, func(r *Replication) {
			if r.Configuration > 0 {
				return // without laxity, the results are the same
			}
			for k, run := range r.Runs {
				label := []string{"mli", "ran", "ff", "nf", "imct", "minu", "maxu"}[k]
				for i := range run.Jobs {
					j := &run.Jobs[i]
					if j.Admitted() && !j.Fulfilled() {
						t.Errorf("%v: %s: job %d is late or killed", sets, label, i)
					}
				}
				out[label] = run.Jobs
			}
		})
		return out
	}
	one := jobs("base.fleet.hosts=1", "base.workload.annotate.load.processors=64")
	for label := range one {
		if !reflect.DeepEqual(one[label], one["mli"]) {
			t.Errorf("on one cluster %s is not mli", label)
		}
	}
	tight := jobs("base.workload.annotate.reservations.laxity.mean=0")
	if !reflect.DeepEqual(tight["ff"], tight["mli"]) || !reflect.DeepEqual(tight["imct"], tight["mli"]) || reflect.DeepEqual(tight["nf"], tight["mli"]) {
		t.Error("without laxity ff, imct and mli differ, or nf does not")
	}
	demand := jobs("base.workload.annotate.reservations.share=0")
	for label, js := range demand {
		if slices.ContainsFunc(js, func(j metrics.Job) bool { return !j.Admitted() }) {
			t.Errorf("%s rejects on-demand jobs", label)
		}
	}
}
