package scenario

import (
	"bourse/workloadgen/config"
	"bytes"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite golden files")

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

func write(t interface{ Fatal(...any) }, e Experiment) []byte {
	var b bytes.Buffer
	if err := Write(&b, e); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestWrite checks the form of a printed file and that it contains every field with its
// description.
func TestWrite(t *testing.T) {
	t.Parallel()
	e, err := Parse("small.yaml", []byte(strings.Replace(small, "{hosts: 4}", "{hosts: 4, count: {gpu: 2}, floor_per_hour: {gpu: 1.2}}", 1)), names())
	if err != nil {
		t.Fatal(err)
	}
	e.Configurations[0].Market.Resources = []string{"memory", "gpu"}
	e.Configurations[0].Market.Licences = map[string]int{"matlab": 10}
	e.Configurations[0].Fleet.Held = []Held{{Memory: 8e9, Count: map[string]int{"gpu": 2}}, {Memory: 4e9}}
	e.Configurations[0].Fleet.Whole = []bool{true, false}
	got := write(t, e)
	golden(t, "testdata/small.yaml", got)
	for _, typ := range []reflect.Type{
		reflect.TypeFor[Experiment](), reflect.TypeFor[Configuration](), reflect.TypeFor[Fleet](),
		reflect.TypeFor[Workload](), reflect.TypeFor[Market](), reflect.TypeFor[SLA](), reflect.TypeFor[Provider](),
	} {
		for _, f := range config.FieldsOf(typ) {
			if !strings.Contains(string(got), "# "+f.Doc+"\n") {
				t.Errorf("%s.%s: its doc is not there: %s", typ.Name(), f.Name, f.Doc)
			}
		}
	}
}

// TestWriteParse checks that a printed file parses to the same experiment for any names,
// numbers, texts, choices and options.
func TestWriteParse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := anyExperiment(t)
		text := write(t, e)
		got, err := Parse("any.yaml", text, Known{})
		if err != nil {
			t.Fatalf("%v, of\n%s", err, text)
		}
		if !reflect.DeepEqual(said(got), said(e)) {
			t.Fatalf("got %+v, want %+v, of\n%s", got, e, text)
		}
		if again := write(t, got); !bytes.Equal(again, text) {
			t.Fatalf("printed again: %s\nwant %s", again, text)
		}
	})
}

// TestWriteOrder checks that a printed file is printed again unchanged, even if
// configurations list the same options in different orders.
func TestWriteOrder(t *testing.T) {
	t.Parallel()
	const text = `
name: orders
configurations:
  - {name: a, workload: {plan: /p, annotate: {z: {p: 1, r: 3}}}, admission: [x]}
  - {name: b, workload: {plan: /p, annotate: {y: 2, z: {q: 2, r: 3, p: 1}}}, admission: [x]}
`
	e, err := Parse("orders.yaml", []byte(text), Known{})
	if err != nil {
		t.Fatal(err)
	}
	once := write(t, e)
	if e, err = Parse("once.yaml", once, Known{}); err != nil {
		t.Fatal(err)
	}
	if twice := write(t, e); !bytes.Equal(twice, once) {
		t.Errorf("printed once\n%s\ntwice\n%s", once, twice)
	}
}

// said returns an experiment as plain maps, lists and values.
func said(e Experiment) any {
	var out any
	if err := config.Of(e).Decode("", &out); err != nil {
		panic(err)
	}
	return out
}

func anyExperiment(t *rapid.T) Experiment {
	name := rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9-]{0,5}`)
	e := defaultExperiment()
	e.Name = name.Draw(t, "name")
	e.Title = anyText(t)
	e.Seed = rapid.Uint64().Draw(t, "seed")
	for _, n := range rapid.SliceOfNDistinct(name, 1, 3, rapid.ID).Draw(t, "configurations") {
		c := Default()
		c.Name = n
		c.Fleet.Hosts = rapid.IntRange(1, 3).Draw(t, "hosts")
		c.Fleet.Memory = rapid.Float64Range(0, 1e18).Draw(t, "memory")
		for range rapid.IntRange(0, 2).Draw(t, "held") {
			c.Fleet.Held = append(c.Fleet.Held, Held{Disk: rapid.Float64Range(0, 1e18).Draw(t, "disk"), Count: map[string]int{"gpu": rapid.IntRange(0, 9).Draw(t, "gpu")}})
		}
		c.Fleet.Whole = rapid.SliceOfN(rapid.Bool(), -1, 3).Draw(t, "whole")
		c.Market.Forecaster = anyChoice(t)
		if rapid.Bool().Draw(t, "availability") {
			a := DefaultAvailability()
			if rapid.Bool().Draw(t, "recorded") {
				a.File = anyPath(t)
			} else {
				m := anyChoice(t)
				a.Model = &m
			}
			a.Leaving = rapid.SampledFrom([]string{"resubmit", "lost", "suspend"}).Draw(t, "leaving")
			a.Span, a.Predictor = rapid.Float64Range(1, 1e9).Draw(t, "span"), anyChoice(t)
			c.Fleet.Availability = &a
		}
		if rapid.Bool().Draw(t, "model") {
			m := anyChoice(t)
			c.Workload.Model = &m
			if rapid.Bool().Draw(t, "estimate") {
				law := anyChoice(t)
				c.Workload.Estimate = &law
			}
		} else {
			c.Workload.Plan = anyPath(t)
			c.Workload.Annotate.fields = anyMapping(t, 2)
		}
		c.SLA.RunsOn = rapid.Bool().Draw(t, "runs on")
		if rapid.Bool().Draw(t, "penalty") {
			c.SLA.Penalty = &Penalty{Rate: rapid.Float64Range(0, 1).Draw(t, "rate")}
		}
		for i := range rapid.IntRange(1, 3).Draw(t, "policies") {
			a := anyChoice(t)
			a.Label = string(rune('a' + i))
			if rapid.Bool().Draw(t, "sharing") {
				rule := anyChoice(t)
				a.Sharing = &rule
			}
			c.Admission = append(c.Admission, a)
		}
		e.Configurations = append(e.Configurations, c)
	}
	return e
}

// anyPath is absolute, because relative paths are joined to the folder of the file.
func anyPath(t *rapid.T) string { return "/files/" + strings.ReplaceAll(anyText(t), "/", "") }

func anyText(t *rapid.T) string {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", "null", "~", "true", "yes", "1e5", ".inf", "0x10", "a: b", "# c", "- d", "[e", "'", "\"", "x\ny", " z ", "*a", "&b", "!c", "<<",
	})).Draw(t, "text")
}

func anyChoice(t *rapid.T) Choice {
	c := Named(rapid.SampledFrom([]string{"x", "y", "no", "7"}).Draw(t, "plug-in"))
	if rapid.Bool().Draw(t, "options") {
		c.options = anyMapping(t, 2)
	}
	return c
}

func anyMapping(t *rapid.T, depth int) *config.Node {
	n := &config.Node{Kind: config.Mapping}
	for _, k := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "x: y", "no"}), 1, 3, rapid.ID).Draw(t, "keys") {
		n = n.Put(k, anyNode(t, depth))
	}
	return n
}

func anyNode(t *rapid.T, depth int) *config.Node {
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return &config.Node{}
	case 1:
		return config.Text(anyText(t))
	case 2:
		if depth > 0 {
			return anyMapping(t, depth-1)
		}
	case 3:
		l := &config.Node{Kind: config.List}
		for range rapid.IntRange(0, 2).Draw(t, "items") {
			l.Items = append(l.Items, anyNode(t, max(0, depth-1)))
		}
		return l
	}
	return &config.Node{Kind: config.Scalar, Text: rapid.SampledFrom([]string{"1", "-2.5", "1e-3", "true"}).Draw(t, "scalar")}
}
