package scenario

import (
	"reflect"
	"strings"
	"testing"
)

// names contains test lists in place of the plug-in tables.
func names() Known {
	return Known{
		Availability: []string{"diurnal", "markov"}, Predictors: []string{"tde", "naive"},
		Admission:   []string{"be", "cac", "rac", "sac"},
		Sharing:     []string{"auction"},
		Bidding:     []string{"best-response", "cheapest", "random"},
		Forecasters: []string{"chebyshev", "chebyshev2", "empirical", "normal"},
		Models:      []string{"paper"},
		Payments:    []string{"bid", "spot", "usage"},
	}
}

const small = `
name: small
replications: 3
alphas: [0, 0.5, 1]
base:
  fleet: {hosts: 4}
  workload:
    model: {name: paper, jobs: 20, iat: {min: 30, mean: 92.36}}
  admission: [be, {name: cac, capacity: static}]
configurations:
  - name: low
    workload: {model: {iat: {min: 90, mean: 153.66}}}
  - name: high
    fleet: {cpus: 4}
    market: {window: 60}
    admission:
      - sac
      - {name: sac, label: sac-90, guarantee: 0.9}
`

// TestMark checks that a scenario may have a byte order mark and Windows line ends.
func TestMark(t *testing.T) {
	t.Parallel()
	want, err := Parse("small.yaml", []byte(small), names())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"\ufeff" + small, "\ufeff" + strings.ReplaceAll(small, "\n", "\r\n")} {
		if got, err := Parse("small.yaml", []byte(file), names()); err != nil || got.Name != want.Name || len(got.Configurations) != len(want.Configurations) {
			t.Errorf("%.20q: %v, %v", file, got.Name, err)
		}
	}
}

// TestParse checks that a configuration is merged into the base and the base into the
// defaults, including options of plug-ins.
func TestParse(t *testing.T) {
	t.Parallel()
	e, err := Parse("dir/small.yaml", []byte(small), names())
	if err != nil {
		t.Fatal(err)
	}
	low, high := e.Configurations[0], e.Configurations[1]
	if !reflect.DeepEqual(low.Fleet, Fleet{Hosts: 4, CPUs: 2, Speed: 1, Cap: 1}) || high.Fleet.CPUs != 4 || high.Fleet.Hosts != 4 {
		t.Errorf("fleets = %+v, %+v", low.Fleet, high.Fleet)
	}
	if low.Market.Window != 300 || high.Market.Window != 60 {
		t.Errorf("windows = %v, %v", low.Market.Window, high.Market.Window)
	}
	if got := high.Admission[1]; got.Name != "sac" || got.Label != "sac-90" {
		t.Errorf("admission = %+v", got)
	}
	for _, c := range []struct {
		c         Configuration
		min, mean float64
	}{{low, 90, 153.66}, {high, 30, 92.36}} {
		var o struct {
			Jobs int
			IAT  struct{ Min, Mean, Max float64 }
		}
		o.IAT.Max = 480
		if err := c.c.Workload.Model.Decode(&o); err != nil {
			t.Fatal(err)
		}
		if o.Jobs != 20 || o.IAT.Min != c.min || o.IAT.Mean != c.mean || o.IAT.Max != 480 {
			t.Errorf("%s: model options = %+v", c.c.Name, o)
		}
	}
	var o struct{ Capacity string }
	if err := low.Admission[1].Decode(&o); err != nil || o.Capacity != "static" {
		t.Errorf("cac options = %+v, %v", o, err)
	}
	var wrong struct{ Kapacity string }
	err = low.Admission[1].Decode(&wrong)
	if err == nil || !strings.Contains(err.Error(), "dir/small.yaml:9:31: configurations.low.admission.cac.capacity: unknown field") {
		t.Errorf("error = %v", err)
	}
}

// TestFolder checks that files named in a scenario are looked up in the scenario's folder,
// and files named in overrides in the current folder.
func TestFolder(t *testing.T) {
	t.Parallel()
	const text = `
name: folder
sweep: [{path: workload.model.file, values: [x.yaml]}]
configurations:
  - {name: a, workload: {model: {name: any, file: m.yaml}}, admission: [x]}
  - {name: b, workload: {model: {name: any, options: {file: ../m.yaml}}}, admission: [x]}
  - {name: c, workload: {model: {name: any, file: /m.yaml}}, admission: [x]}
  - {name: d, workload: {model: {name: any, file: m.yaml}}, admission: [x]}
  - {name: e, workload: {plan: p.csv}, admission: [x]}
`
	e, err := Parse("in/s.yaml", []byte(strings.Replace(text, "sweep", "# sweep", 1)), Known{}, "configurations.d.workload.model.file=set.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"in/m.yaml", "m.yaml", "/m.yaml", "set.yaml", "in/p.csv"} {
		w := &e.Configurations[i].Workload
		got := any(w.Plan)
		if w.Model != nil {
			got = w.Model.Options()["file"]
		}
		if got != want {
			t.Errorf("configuration %s: found %v, want %s", e.Configurations[i].Name, got, want)
		}
	}
	e, err = Parse("in/s.yaml", []byte(strings.SplitAfter(text, "m.yaml}}, admission: [x]}\n")[0]), Known{})
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Expanded().Configurations[0].Workload.Model.Options()["file"]; got != "in/x.yaml" {
		t.Errorf("at a point of a sweep: %v", got)
	}
}
