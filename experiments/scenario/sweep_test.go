package scenario

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const swept = `
name: swept
sweep:
  - {path: fleet.hosts, also: [fleet.disk, admission.sac.share], values: [4, 16], label: hosts}
  - {path: admission.cac.guarantee, values: [0.5, 0.9]}
figure: {metrics: [violations], range: [20, 80]}
base:
  workload: {model: paper}
  admission: [be, cac, {name: sac, sharing: auction}]
configurations:
  - low
  - {name: high, market: {window: 60}}
`

// TestSweep checks that every configuration is run at every point of the axes, the first
// axis slowest, under a name with its values. The file itself must not change.
func TestSweep(t *testing.T) {
	t.Parallel()
	known := names()
	known.Metrics = []string{"violations"}
	e, err := Parse("swept.yaml", []byte(swept), known)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range e.Expanded().Configurations {
		got = append(got, c.Name)
		var o struct{ Guarantee float64 }
		if err := c.Admission[1].Decode(&o); err != nil {
			t.Fatal(err)
		}
		name, values, _ := strings.Cut(c.Name, "@")
		hosts, guarantee, _ := strings.Cut(values, ",")
		if c.Fleet.Hosts != map[string]int{"4": 4, "16": 16}[hosts] || o.Guarantee != map[string]float64{"0.5": 0.5, "0.9": 0.9}[guarantee] {
			t.Errorf("%s has %d hosts and guarantee %v", c.Name, c.Fleet.Hosts, o.Guarantee)
		}
		var also struct{ Share int }
		if err := c.Admission[2].Decode(&also); err != nil {
			t.Fatal(err)
		}
		if float64(c.Fleet.Hosts) != c.Fleet.Disk || c.Fleet.Hosts != also.Share {
			t.Errorf("%s has %d hosts, disk %v and sac's share %d, want them alike", c.Name, c.Fleet.Hosts, c.Fleet.Disk, also.Share)
		}
		if (c.Market.Window == 60) != (name == "high") {
			t.Errorf("%s has window %v", c.Name, c.Market.Window)
		}
		if s := c.Admission[2].Sharing; s == nil || s.Name != "auction" || c.Admission[1].Sharing != nil {
			t.Errorf("%s: sac is shared by %v, cac by %v", c.Name, s, c.Admission[1].Sharing)
		}
	}
	want := "low@4,0.5 low@4,0.9 low@16,0.5 low@16,0.9 high@4,0.5 high@4,0.9 high@16,0.5 high@16,0.9"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("points %s, want %s", s, want)
	}
	if len(e.Configurations) != 2 || e.Configurations[0].Fleet.Hosts != 15 {
		t.Errorf("the file's configurations became %+v", e.Configurations)
	}
	golden(t, "testdata/swept.yaml", write(t, e))
}

// TestSweepSet checks that an override can change an axis like any field.
func TestSweepSet(t *testing.T) {
	t.Parallel()
	e, err := Parse("swept.yaml", []byte(swept), names(), "sweep.hosts.values=[2]", "configurations.low.fleet.cpus=8")
	if err != nil {
		t.Fatal(err)
	}
	if c := e.Expanded().Configurations; len(c) != 4 || c[0].Name != "low@2,0.5" || c[0].Fleet.Hosts != 2 || c[0].Fleet.CPUs != 8 {
		t.Errorf("points %+v", c)
	}
}

// TestSweepWritten checks that a point equals the configuration that --set would make,
// whatever is swept, and that a printed sweep has the same points.
func TestSweepWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := anyExperiment(t)
		field := rapid.SampledFrom([]string{"fleet.hosts", "sla.slack", "market.window", "workload.annotate.a", "market.forecaster.x.y"}).Draw(t, "path")
		for _, v := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"1", "2", "7", "30"}), 1, 3, rapid.ID).Draw(t, "values") {
			if e.Sweep == nil {
				e.Sweep = []Axis{{Path: field, Label: anyText(t)}}
			}
			e.Sweep[0].Values = append(e.Sweep[0].Values, Value(v))
		}
		text := write(t, e)
		got, err := Parse("any.yaml", text, Known{})
		if err != nil {
			t.Fatalf("%v, of\n%s", err, text)
		}
		points := got.Expanded().Configurations
		n := 0
		for i := range e.Configurations {
			for _, v := range e.Sweep[0].Values {
				set, err := Parse("any.yaml", text, Known{}, "sweep=[]", fmt.Sprintf("configurations.%d.%s=%s", i, field, v))
				if err != nil {
					t.Fatal(err)
				}
				want := set.Configurations[i : i+1]
				want[0].Name += "@" + string(v)
				if !reflect.DeepEqual(said(Experiment{Configurations: points[n : n+1]}), said(Experiment{Configurations: want})) {
					t.Fatalf("point %+v, want %+v", points[n], want[0])
				}
				n++
			}
		}
		if n != len(points) {
			t.Fatalf("%d points, want %d", len(points), n)
		}
	})
}

// TestLog checks that a log replaces the workload of exactly the configurations with a
// filter.
func TestLog(t *testing.T) {
	t.Parallel()
	const file = `
name: x
base: {admission: [be]}
configurations:
  - {name: a, workload: {model: paper, filter: "last:3000"}}
  - {name: b, workload: {model: paper}}
`
	known := names()
	known.Log = "sp2.gz"
	e, err := Parse("dir/x.yaml", []byte(file), known)
	if err != nil {
		t.Fatal(err)
	}
	a, b := e.Configurations[0].Workload, e.Configurations[1].Workload
	if a.SWF != "sp2.gz" || a.Model != nil || b.SWF != "" || b.Model == nil {
		t.Errorf("workloads %+v, %+v", a, b)
	}
	if _, err = Parse("x.yaml", []byte(file), known, "configurations=[{name: b, workload: {model: paper}}]"); err == nil ||
		err.Error() != "--trace sp2.gz: no configuration uses a log, because none has a workload.filter" {
		t.Errorf("error %v", err)
	}
}

// TestSweepOfOne checks that an axis whose path names a configuration applies only to that
// one, and that axes for two configurations are rejected.
func TestSweepOfOne(t *testing.T) {
	t.Parallel()
	const text = "{name: a, base: {workload: {model: paper}, admission: [be]}, configurations: [{name: low}, {name: high}], sweep: [{path: \"high:fleet.hosts\", values: [3, 4]}%s]}"
	e, err := Parse("a.yaml", fmt.Appendf(nil, text, ""), names())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range e.Expanded().Configurations {
		got = append(got, fmt.Sprint(c.Name, " ", c.Fleet.Hosts))
	}
	if fmt.Sprint(got) != "[high@3 3 high@4 4]" || e.Sweep[0].Path != "fleet.hosts" {
		t.Errorf("found %v along %s", got, e.Sweep[0].Path)
	}
	for more, want := range map[string]string{
		", {path: \"low:fleet.cpus\", values: [1, 2]}": "sweep.1.path: found configuration low after high, want only one configuration",
		", {path: \"hihg:fleet.cpus\", values: [1]}":   "sweep.1.path: found configuration hihg after high, want only one configuration",
	} {
		if _, err := Parse("a.yaml", fmt.Appendf(nil, text, more), names()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", more, err, want)
		}
	}
	if _, err := Parse("a.yaml", []byte(strings.Replace(fmt.Sprintf(text, ""), "high:fleet", "hihg:fleet", 1)), names()); err == nil || !strings.Contains(err.Error(), "did you mean high") {
		t.Errorf("hihg: %v, want a guess", err)
	}
}
