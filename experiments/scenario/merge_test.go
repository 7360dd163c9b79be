package scenario

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bourse/workloadgen/config"
	"bourse/workloadgen/plugin"
)

func parse(t *testing.T, text string, sets ...string) Experiment {
	t.Helper()
	known := names()
	known.Presets = presets()
	e, err := Parse("dir/test.yaml", []byte(text), known, sets...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

const one = `
name: one
configurations:
  - name: low
    workload: {model: paper}
    admission: [be, sac]
`

// TestSet checks that an override changes exactly what its path names, by index, name or
// label, and creates a mapping for options.
func TestSet(t *testing.T) {
	t.Parallel()
	low := func(e Experiment) Configuration { return e.Configurations[0] }
	for override, look := range map[string]func(Experiment) (got, want any){
		"replications=3":                    func(e Experiment) (any, any) { return e.Replications, 3 },
		"alphas=[0, 1]":                     func(e Experiment) (any, any) { return e.Alphas, []float64{0, 1} },
		"alphas.1=0.5":                      func(e Experiment) (any, any) { return e.Alphas[1], 0.5 },
		"title='a=b: c'":                    func(e Experiment) (any, any) { return e.Title, "a=b: c" },
		"title=":                            func(e Experiment) (any, any) { return e.Title, "" },
		"configurations.low.fleet.hosts=30": func(e Experiment) (any, any) { return low(e).Fleet.Hosts, 30 },
		"configurations.0.fleet.hosts=30":   func(e Experiment) (any, any) { return low(e).Fleet.Hosts, 30 },
		"configurations.low.name=other":     func(e Experiment) (any, any) { return low(e).Name, "other" },
		"fleet.hosts=30":                    func(e Experiment) (any, any) { return low(e).Fleet.Hosts, 30 },
		"low:fleet.hosts=30":                func(e Experiment) (any, any) { return low(e).Fleet.Hosts, 30 },
		"admission=[cac]":                   func(e Experiment) (any, any) { return len(low(e).Admission), 1 },
		"admission.sac.g=0.9":               func(e Experiment) (any, any) { return low(e).Admission[1].Options(), map[string]any{"g": 0.9} },
		"horizon=9":                         func(e Experiment) (any, any) { return *low(e).Horizon, 9.0 },
		"base.market.window=60":             func(e Experiment) (any, any) { return low(e).Market.Window, 60.0 },
		"base.market.forecaster.confidence=0.9": func(e Experiment) (any, any) {
			return low(e).Market.Forecaster.Options(), map[string]any{"confidence": 0.9}
		},
		"base.market.forecaster={name: normal}":  func(e Experiment) (any, any) { return low(e).Market.Forecaster.Name, "normal" },
		"configurations.low.admission.sac.g=0.9": func(e Experiment) (any, any) { return low(e).Admission[1].Options(), map[string]any{"g": 0.9} },
		"configurations.low.admission.1.label=x": func(e Experiment) (any, any) { return low(e).Admission[1].Label, "x" },
		"configurations.low.admission=[cac]":     func(e Experiment) (any, any) { return low(e).Admission[0].Name, "cac" },
		"configurations.low.workload.model.jobs=7": func(e Experiment) (any, any) {
			return low(e).Workload.Model.Options(), map[string]any{"jobs": int64(7)}
		},
		"configurations.low.sla.penalty.rate=2": func(e Experiment) (any, any) { return *low(e).SLA.Penalty, Penalty{Rate: 2} },
	} {
		got, want := look(parse(t, "alphas: [0, 0.1, 1]\n"+one, override))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", override, got, want)
		}
	}
	e := parse(t, one, "configurations.low.workload.model=null", "configurations.low.workload.plan=plan.csv")
	if w := low(e).Workload; w.Model != nil || w.Plan != "plan.csv" {
		t.Errorf("workload = %+v, want the plan as the override says it", w)
	}
	if got := parse(t, one, "seed=2", "seed=3").Seed; got != 3 {
		t.Errorf("seed = %d, want the last override", got)
	}
}

// TestEverywhere checks overrides of a configuration field. The path applies to all
// configurations and takes precedence over base and configurations. With a name and a
// colon, it applies to one configuration. Selected policies must keep the options given in
// a configuration.
func TestEverywhere(t *testing.T) {
	t.Parallel()
	const two = "name: two\nbase: {fleet: {hosts: 3}, workload: {model: {name: paper}}, admission: [be, {name: sac, g: 0.9}]}\nconfigurations: [one, {name: other, fleet: {hosts: 4}, admission: [be]}]\n"
	hosts := func(e Experiment) [2]int {
		return [2]int{e.Configurations[0].Fleet.Hosts, e.Configurations[1].Fleet.Hosts}
	}
	for set, want := range map[string][2]int{
		"base.fleet.hosts=7": {7, 4}, "fleet.hosts=7": {7, 7}, "one:fleet.hosts=7": {7, 4}, "other:fleet.hosts=7": {3, 7},
	} {
		e, err := Parse("two.yaml", []byte(two), Known{}, set)
		if err != nil {
			t.Fatal(err)
		}
		if hosts(e) != want {
			t.Errorf("%s: %v hosts, want %v", set, hosts(e), want)
		}
	}
	for set, want := range map[string]string{
		"none:fleet.hosts=7": "--set none:fleet.hosts=7: configurations: no element none, did you mean one?",
		"fleet.hots=7":       "--set fleet.hots=7: configurations.one.fleet.hots: unknown field, did you mean hosts?",
		":fleet.hosts=7":     "unknown field",
		"fleet.hosts":        "want PATH=VALUE",
	} {
		if _, err := Parse("two.yaml", []byte(two), Known{}, set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", set, err, want)
		}
	}
	e, err := Parse("two.yaml", []byte(two), Known{Policies: []string{"sac", "cac"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []map[string]any{{"g": 0.9}, {}} {
		if a := e.Configurations[i].Admission; len(a) != 2 || a[0].Name != "sac" || a[1].Name != "cac" || !maps.Equal(a[0].Options(), want) {
			t.Errorf("configuration %d: policies %+v, want sac with %v and cac", i, a, want)
		}
	}
}

// TestPreset checks that a file is merged into the preset it names, fields into fields and
// base into base. Only the configurations listed in the file are run, starting from the
// preset's.
func TestPreset(t *testing.T) {
	t.Parallel()
	all := parse(t, "preset: paper\n")
	if all.Name != "small" || len(all.Configurations) != 2 || all.Replications != 3 {
		t.Errorf("preset alone = %+v", all)
	}
	some := parse(t, `
preset: paper
name: mine
base: {fleet: {speed: 2}}
configurations:
  - high
  - {name: new, workload: {model: {jobs: 5}}}
`)
	if some.Name != "mine" || some.Replications != 3 || len(some.Configurations) != 2 {
		t.Fatalf("got %+v", some)
	}
	high, fresh := some.Configurations[0], some.Configurations[1]
	if want := (Fleet{Hosts: 4, CPUs: 4, Speed: 2, Cap: 1}); !reflect.DeepEqual(high.Fleet, want) || high.Market.Window != 60 || high.Admission[1].Label != "sac-90" {
		t.Errorf("high = %+v, want the preset's with speed 2", high)
	}
	if fresh.Fleet.CPUs != 2 || fresh.Fleet.Hosts != 4 || fresh.Workload.Model.Options()["jobs"] != int64(5) {
		t.Errorf("new = %+v, want the base's with 5 jobs", fresh)
	}
}

// TestMerge checks how values are merged: options stay with their plug-in, and lists and
// nulls replace other values.
func TestMerge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ under, over, want string }{
		{"a: {b: 1, c: 2}", "a: {c: 3}", "a: {b: 1, c: 3}"},
		{"a: [1, 2]", "a: [3]", "a: [3]"},
		{"a: {b: 1}", "a: null", "a: null"},
		{"a: {b: 1}", "a: 2", "a: 2"},
		{"a: {name: x, o: 1}", "a: {p: 2}", "a: {name: x, o: 1, p: 2}"},
		{"a: {name: x, o: 1}", "a: {name: x, p: 2}", "a: {name: x, o: 1, p: 2}"},
		{"a: {name: x, o: 1}", "a: {name: y, p: 2}", "a: {name: y, p: 2}"},
		{"a: {name: x, o: 1}", "a: y", "a: y"},
		{"a: x", "a: {p: 2}", "a: {name: x, p: 2}"},
		{"a: x", "a: {name: y, p: 2}", "a: {name: y, p: 2}"},
	} {
		tree := func(text string) *config.Node {
			n, err := read("test", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		under, over := tree(c.under), tree("\n"+c.over)
		if got := merge(under, over); !got.Equal(tree(c.want)) {
			t.Errorf("%s over %s is not %s", c.over, c.under, c.want)
		}
		if !reflect.DeepEqual(under, tree(c.under)) || !reflect.DeepEqual(over, tree("\n"+c.over)) {
			t.Errorf("%s over %s changes them", c.over, c.under)
		}
	}
}

// TestLoad checks that plans and logs are looked up next to the file, and that a file that
// is too large is not read.
func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := file("s.yaml", `
name: s
base: {admission: [be]}
configurations:
  - {name: a, workload: {plan: plans/p.csv}}
  - {name: b, workload: {plan: /p.csv}}
  - {name: c, workload: {swf: kth.swf.gz}}
  - {name: d, workload: {swf: ../kth.swf.gz, filter: "first:3"}}
`)
	load := func(path string) (Experiment, error) {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return Read(path, f, Known{})
	}
	e, err := load(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{filepath.Join(dir, "plans/p.csv"), "/p.csv", filepath.Join(dir, "kth.swf.gz"), filepath.Join(filepath.Dir(dir), "kth.swf.gz")} {
		w := e.Configurations[i].Workload
		got := w.Plan
		if w.SWF != "" {
			got = w.SWF
		}
		if got != want {
			t.Errorf("configuration %d: path %s, want %s", i, got, want)
		}
	}
	_, err = load(file("large.yaml", strings.Repeat("# many words\n", 1<<20)))
	if err == nil || !strings.Contains(err.Error(), "want at most 1048576") {
		t.Errorf("large file: error = %v", err)
	}
}

// TestBlame checks that a plug-in's own error gets the position of its options exactly
// once, and that a choice made in code adds nothing.
func TestBlame(t *testing.T) {
	t.Parallel()
	complaint := errors.New("reject is 2, want a probability")
	c := parse(t, one).Configurations[0].Admission[1]
	first := c.Blame(complaint)
	if got, want := first.Error(), "dir/test.yaml:6:21: configurations.low.admission.1: reject is 2, want a probability"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, err := range []error{nil, first} {
		if got := c.Blame(err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
	if got := Named("sac").Blame(complaint); got != complaint {
		t.Errorf("got %v, want it unchanged", got)
	}
	o := parse(t, one, "base.workload.annotate={delay: -1}").Configurations[0].Workload.Annotate
	if got, want := o.Blame(complaint).Error(), "--set base.workload.annotate={delay: -1}: configurations.low.workload.annotate: "+complaint.Error(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestNearest checks suggestions for misspelled names.
func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"be", "sac", "cac", "cheapest", "best-response"}
	for found, want := range map[string]string{
		"bee": "be", "SAC": "sac", "saac": "sac", "cheepest": "cheapest", "chepaest": "cheapest",
		"best_response": "best-response", "": "", "x": "", "gaussian": "", strings.Repeat("sac", 100): "",
	} {
		if got := plugin.Nearest(found, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", found, got, want)
		}
	}
}
