package live

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bourse/experiments"
	"bourse/experiments/metrics"
	"bourse/experiments/scenario"
	"bourse/hosts"
	"bourse/hosts/remote/remotetest"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ran exports the market of w, runs the exported scenario, and returns the export and the run.
func (w *town) ran() (*Exported, []metrics.Job, string) {
	w.t.Helper()
	x := must(Export("market", w.disk.CrashClone(vfs.CrashCloneCfg{})))
	dir := w.t.TempDir()
	for _, f := range must(x.Files("day")) {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Text, 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "day.yaml")
	text := must(os.ReadFile(file))
	e := must(scenario.Parse(file, text, experiments.Known()))
	var jobs []metrics.Job
	err := must(experiments.Prepare(&e)).Each(w.t.Context(), experiments.Options{}, func(r *experiments.Replication) error {
		jobs = r.Runs[0].Jobs
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return x, jobs, string(text)
}

// resize makes host i, which must have no tasks, join with another number of processors.
func (w *town) resize(i int, cpus float64) {
	w.t.Helper()
	spec := hosts.Spec{Name: w.names[i], CPUs: cpus, Speed: 1}
	if r := w.turn(message{Join: &join{Spec: spec, Owner: "host:" + spec.Name}}); r[0].err != nil {
		w.t.Fatal(r[0].err)
	}
	w.agents[i] = remotetest.New(spec)
}

// TestExport checks that the run of an exported market without host failures makes the same
// decisions as the live market, ends contracts in the same way, and charges nearly the same
// amounts.
func TestExport(t *testing.T) {
	t.Parallel()
	for n, rules := range []string{file, file, "name: lab", "name: lab\nadmission: cac\nmarket: {bidding: cheapest}", "name: lab", "name: lab\nadmission: sac\nmarket: {bidding: cheapest, payment: bid}", "name: lab\nadmission: edf\nmarket: {sharing: exclusive}"} {
		w := newTown(t, rules, 3)
		if n == 1 || n == 2 { // hosts have three sizes
			w.resize(1, 2)
			w.resize(2, 0.5)
		}
		for _, a := range w.agents {
			a.Exits = func(contract int64) float64 {
				return []float64{31, 47, 112}[contract%3]
			}
		}
		for i := range 30 {
			class := []string{"be", "cac", "sac", ""}[i%4]
			if !strings.Contains(rules, "class") {
				class = ""
			}
			s := w.order(fmt.Sprintf("o-%d", i), fmt.Sprintf("user:%d", i%3), class, 1+i%5/3, float64(40+50*(i%6)), 250, 0.1)
			r := w.turn(message{Submit: &s})
			w.pass(30)
			if i == 9 {
				w.turn(message{Cancel: w.cancel("x", "user:0", r[0].answer.Contract)})
			}
		}
		w.pass(300)
		x, jobs, text := w.ran()
		if len(jobs) != 30 || len(x.Outcomes) != 30 || len(x.Notes) > 1 || x.Hosts != nil || len(x.Accounts) != 3 {
			t.Fatalf("%d jobs, %d outcomes, notes %q, %d users:\n%s", len(jobs), len(x.Outcomes), x.Notes, len(x.Accounts), text)
		}
		if sizes := x.Scenario.Configurations[0].Fleet.Sizes; (len(sizes) > 0) != (n == 1 || n == 2) {
			t.Errorf("%q: sizes %v", rules, sizes)
		}
		rejected, states, live, computed := 0, map[string]int{}, 0.0, 0.0
		for i := range jobs {
			j, o := &jobs[i], &x.Outcomes[i]
			if j.ID != o.Job || j.ID != int64(i+1) {
				t.Fatalf("job %d is of contract %d", j.ID, o.Job)
			}
			states[o.State]++
			if is := !j.Admitted(); is != (o.Decision == "reject") || string(j.Reason) != o.Reason {
				t.Errorf("%q: contract %d: %s %s, and live %s %s", rules, o.Job, j.Contract.Outcome, j.Reason, o.Decision, o.Reason)
			} else if is {
				rejected++
				continue
			}
			if got := j.Contract.Outcome.State(); got != o.State && j.Runtime < j.Deadline { // a longer job continues to run
				t.Errorf("%q: contract %d: %s, and live %s", rules, o.Job, got, o.State)
			}
			live, computed = live+o.Paid, computed+j.Contract.Paid.Float64()
		}
		if t.Log(rules, states, live, computed); rejected < 3 && rules != "name: lab" || states["fulfilled"] < 5 {
			t.Errorf("%s: %v: too few to compare", rules, states)
		}
		if math.Abs(live-computed) > 0.05*live {
			t.Errorf("%s: paid %v, and live %v", rules, computed, live)
		}
	}
}

// TestExportHosts checks that hosts that join late, leave and return in the market also do so
// in the scenario. It also checks that hosts with different task limits are refused, and that
// the notes list the data that a log omits.
func TestExportHosts(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 2)
	for _, a := range w.agents {
		a.Exits = func(int64) float64 { return 40 }
	}
	if _, err := Export("market", w.disk.CrashClone(vfs.CrashCloneCfg{})); err == nil || !strings.Contains(err.Error(), "no request") {
		t.Errorf("without requests: %v", err)
	}
	submit := func(id string, nodes int, budget float64) {
		s := w.order(id, "user:0", "be", nodes, 40, 100, budget)
		w.turn(message{Submit: &s})
	}
	submit("a", 1, 0.1)
	w.pass(50)
	w.turn(message{Gone: "h01"})
	submit("b", 2, 0.1)
	submit("dear", 1, 1e6)
	agents, names := w.agents, w.names
	w.agents, w.names = agents[:1], names[:1]
	w.pass(100)
	w.agents, w.names = agents, names
	w.turn(message{Came: "h01"}, message{Shut: &shutting{Host: "h00", Shut: true, Operator: true}}, message{Shut: &shutting{Host: "h00", Operator: true}})
	submit("c", 2, 0.1)
	w.pass(100)
	x, jobs, _ := w.ran()
	if len(jobs) != 3 || len(x.Notes) != 2 || !strings.HasPrefix(x.Notes[0], "number of requests ") || !strings.HasPrefix(x.Notes[1], "number of times ") {
		t.Fatalf("%d jobs, notes %q", len(jobs), x.Notes)
	}
	for i := range jobs {
		if got := jobs[i].Contract.Outcome.State(); jobs[i].Admitted() != (x.Outcomes[i].Decision == "accept") || jobs[i].Admitted() && got != x.Outcomes[i].State {
			t.Errorf("job %d: %s, and live %+v", jobs[i].ID, got, x.Outcomes[i])
		}
	}
	if there := x.Hosts.Hosts[1].Intervals(); len(there) != 2 || there[0].End != 150 || there[1].Start != 250 {
		t.Errorf("h01 is there in %v", there)
	}
	w.turn(message{Join: &join{Spec: hosts.Spec{Name: "big", CPUs: 2, Speed: 1, Cap: 1}, Owner: "host:h00"}})
	if _, err := Export("market", w.disk.CrashClone(vfs.CrashCloneCfg{})); err == nil || !strings.Contains(err.Error(), "hosts h00 and big limit a task to 0 and 1 processors") {
		t.Errorf("hosts of two limits: %v", err)
	}
}
