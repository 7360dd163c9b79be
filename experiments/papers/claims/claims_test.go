package claims

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"bourse/experiments/results"
)

// lab is three replications of two policies on four points of two axes, and a
// place apart. At load x, width w and replication r, a has 10 x + w + r/10 and b
// has 5, but for width 2, where b has none.
func lab() []Results {
	r := Results{Experiment: "lab", Axes: []string{"load", "width"}}
	add := func(configuration, policy string, rep int, x float64, ok bool) {
		row := results.Metric{Configuration: configuration, Admission: policy, Replication: rep, Metric: "m"}
		if ok {
			row.Value = &x
		}
		r.Rows = append(r.Rows, row)
	}
	for _, p := range []struct {
		name        string
		load, width float64
	}{{"c@0,1", 0, 1}, {"c@0,2", 0, 2}, {"c@1,1", 1, 1}, {"c@1,2", 1, 2}} {
		for rep := range 3 {
			add(p.name, "a", rep, 10*p.load+p.width+float64(rep)/10, true)
			add(p.name, "b", rep, 5, p.width == 1)
		}
	}
	for rep := range 3 {
		x := float64(rep)
		r.Rows = append(r.Rows, results.Metric{Configuration: "d@0,1", Admission: "a", Replication: rep, Metric: "l", Value: &x})
		add("d@0,1", "a", rep, 0, true)
		add("d@0,1", "none", rep, 0, false)
	}
	return []Results{r}
}

// TestNumbers checks every word of the vocabulary on numbers that can be worked
// out by hand: with two degrees of freedom p is (1 - t/√(2 + t²))/2.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		// mean over points, and over replications: 5 + 1.5 + 0.1
		"metric: m, of: a, in: lab/c, above: 6.5":                                              "PASS 6.6 0.113",
		"metric: m, of: a, in: lab/c, above: 7":                                                "FAIL 6.6 0.99",
		"metric: m, of: a, in: lab/c, below: 7":                                                "PASS 6.6 0.0101",
		"metric: m, of: a, in: lab/c, within: 6.5":                                             "FAIL 6.6 0.887",
		"metric: m, of: a, in: lab/c, within: 7":                                               "PASS 6.6 0.0101",
		"metric: m, of: a, in: lab/c, at: {load: 1}, above: 0":                                 "PASS 11.6 1.24e-05",
		"metric: m, of: a, in: lab/c, at: {load: [0, 0.5], width: 2}, above: 0":                "PASS 2.1 0.000378",
		"metric: m, of: a, in: lab/c, at: {load: 1}, over: {at: {load: 0}}, above: 0":          "PASS 10 -",
		"metric: m, of: a, in: lab/c, over: {in: lab/d}, above: 0":                             "PASS 6.6 3.83e-05",
		"metric: m, of: a, less: b, in: lab/c, above: 0":                                       "PASS 1.1 0.00137", // where b is defined
		"metric: m, of: a, per: b, in: lab/c, at: {load: 0}, below: 0":                         "PASS -0.78 0.00011",
		"metric: m, of: a, in: lab/c, along: load, above: 0.9":                                 "PASS 1 -",
		"metric: m, of: b, in: lab/c, along: load, within: 0":                                  "PASS 0 -",
		"metric: m, of: a, in: lab/c, spread: width, within: 1.01":                             "PASS 1 -",
		"metric: m, of: a, less: b, in: lab/c, at: {load: 1}, over: {at: {load: 0}}, below: 0": "FAIL 10 -",
		"metric: m, of: a, in: lab/c, at: {load: 1}, over: {of: b, at: {load: 0}}, above: 0":   "PASS 6.6 3.83e-05",
		"metric: m, since: l, of: a, in: lab/d, below: 0":                                      "PASS -1 0.113",
		"metric: m, since: x, of: a, in: lab/d, below: 0":                                      "NOT TESTABLE: m less x of a, lab/d is undefined",
		"metric: m, of: none, in: lab/d, above: 0":                                             "NOT TESTABLE: m of none, lab/d is undefined",
		"metric: m, of: c, in: lab/c, above: 0":                                                "NOT TESTABLE: lab: c was not run under c",
		"metric: m, of: a, in: lab/e, above: 0":                                                "NOT TESTABLE: lab: no m of configuration e",
		"metric: x, of: a, in: lab/c, above: 0":                                                "NOT TESTABLE: lab: no x of configuration c",
		"metric: m, of: a, in: field/c, above: 0":                                              "NOT TESTABLE: no results of field",
		"metric: m, of: a, in: lab/c, along: age, above: 0":                                    "NOT TESTABLE: lab has no axis age",
		"metric: m, of: a, in: lab/c, at: {load: 7}, above: 0":                                 "NOT TESTABLE: lab: no point of m of a, lab/c, load 7",
	} {
		p, err := Read("test", []byte(`{name: x, title: x, claims: [{id: "1", quote: q, section: s, tests: [{`+text+`}]}]}`))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		j := Judge(p, lab())[0]
		got := string(j.Verdict)
		if j.Why != "" {
			got += ": " + j.Why
		}
		if len(j.Outcomes) == 1 {
			got += " " + short(&j.Outcomes[0].Mean) + " " + short(j.P)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func short(x *float64) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(*x, 'g', 3, 64)
}

// TestJudge checks that a claim needs all of its tests, that names in lists are
// tests of their own, and that p values are corrected over the paper: a claim
// that cannot be tested is not in the family.
func TestJudge(t *testing.T) {
	t.Parallel()
	p, err := Read("test", []byte(`
name: x
title: x
claims:
  - {id: "1", quote: q, section: s, tests: [{metric: m, of: [a, b], in: lab/c, above: 4}]}
  - {id: "2", quote: q, section: s, tests: [{metric: m, of: a, in: lab/c, above: 6.5}]}
  - {id: "3", quote: q, section: s, untestable: nobody counted}
  - {id: "4", quote: q, section: s, tests: [{metric: m, of: a, in: lab/c, above: 6.4}, {metric: m, of: a, in: lab/c, below: 1}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	j := Judge(p, lab())
	if n := len(j[0].Outcomes); n != 2 || j[0].Verdict != Pass || j[0].P != nil {
		t.Errorf("claim 1: %d tests, %s, p %v; want 2, PASS, none: b does not vary", n, j[0].Verdict, j[0].P)
	}
	if j[2].Verdict != NotTestable || j[2].Why != "nobody counted" || j[3].Verdict != Fail {
		t.Errorf("claims 3 and 4: %+v, %+v", j[2], j[3])
	}
	if p, holm := *j[1].P, *j[1].Holm; math.Abs(holm-2*p) > 1e-12 || *j[3].Holm != *j[3].P {
		t.Errorf("claim 2: p %v becomes %v among two; claim 4: %v becomes %v", p, holm, *j[3].P, *j[3].Holm)
	}
}

// TestRead checks that a mistake in a file of claims is told by claim.
func TestRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[{id: "1", quote: q, section: s}]`: "claim 1: want tests, or else untestable",
		`[{id: "1", quote: q, section: s, untestable: u, tests: [{metric: m, of: a, in: c, above: 1}]}]`:      "claim 1: want tests, or else",
		`[{id: "1", section: s, untestable: u}]`:                                                              "claim 1: want id, quote and section",
		`[{id: "1", quote: q, section: s, tests: [{metric: m, of: a, in: c}]}]`:                               "one of above, below and within",
		`[{id: "1", quote: q, section: s, tests: [{metric: m, of: a, in: c, above: 1, below: 2}]}]`:           "one of above, below and within",
		`[{id: "1", quote: q, section: s, tests: [{metric: m, in: c, above: 1}]}]`:                            "want metric, of and in",
		`[{id: "1", quote: q, section: s, tests: [{metric: m, of: a, in: c, at: {x: [2, 1]}, above: 1}]}]`:    "at x: want a value",
		`[{id: "1", quote: q, section: s, tests: [{metric: m, of: a, less: b, per: b, in: c, above: 1}]}]`:    "one of less and per",
		`[{id: "1", quote: q, section: s, tests: [{metric: m, of: a, in: c, over: {of: [a, b]}, above: 1}]}]`: "over: want one",
		`[{id: "1", quote: q, section: s, untestable: u}, {id: "1", quote: q, section: s, untestable: u}]`:    "claim 1: found twice",
		`[{id: 1-desk, on: lab, quote: q, section: s, untestable: u}]`:                                        "claim 1-desk: want an id that ends in -lab",
		`[{id: "1", quote: q, section: s, untestable: u, tetss: []}]`:                                         "tetss",
	} {
		_, err := Read("f.yaml", []byte("{name: x, title: x, claims: "+text+"}"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
