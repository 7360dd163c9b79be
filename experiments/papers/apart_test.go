package papers

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// TestApart checks that every preset, as stored in results, counts as the paper's experiment
// for any seed, number of replications, title, log or trace. An experiment with another
// difference must be reported with the field, and must have neither the paper's numbers nor its
// figure numbers.
func TestApart(t *testing.T) {
	t.Parallel()
	stored := func(name string, known scenario.Known, sets ...string) *scenario.Experiment {
		t.Helper()
		e, err := scenario.Parse(name, Presets()[name], known, sets...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var text bytes.Buffer
		if err := scenario.Write(&text, e); err != nil {
			t.Fatal(err)
		}
		if e, err = scenario.Stored("", text.String()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return &e
	}
	x := stored("librasla-figure2", scenario.Known{}).Expanded()
	if d := apart(&x); d != nil {
		t.Errorf("expanded, without a log: %+v", d)
	}
	for name := range Presets() {
		var known scenario.Known
		if strings.HasPrefix(name, "libra") {
			known.Log = "sp2.swf.gz"
		}
		if strings.HasPrefix(name, "volunteers") && !OfModels(name) {
			known.Trace, known.TraceFormat = "ucb.csv", "csv"
		}
		e := stored(name, known, "seed=7", "replications=60", "until={metric: violations, half_width: 0.1, min: 5}", "title=mine")
		if d := apart(e); d != nil {
			t.Errorf("%s: %s: found %s, want %s as in the paper's experiment", name, d.Field, d.One, d.Other)
		}
	}
	for set, field := range map[string]string{
		"base.fleet.hosts=30": "configurations.pareto-low.fleet.hosts",
		"alphas=[0, 1]":       "alphas",
		"configurations.pareto-high.admission.cac.guarantee=0.5": "configurations.pareto-high.admission.cac.guarantee",
	} {
		e := stored("paper", scenario.Known{}, set)
		if d := apart(e); d == nil || d.Field != field {
			t.Errorf("%s: %+v, want another %s", set, d, field)
			continue
		}
		one := 0.5
		summary := []results.Summary{{Configuration: "c", Admission: "be", Metric: "violations", N: 2, Mean: &one}}
		for r, numbered := range map[*Reference]bool{new(Beside(e)): false, new(Beside(stored("paper", scenario.Known{}))): true} {
			_, printed := r.Number("pareto-low", "be", "p_w")
			drawn := r.Figures(report.Labels{}, summary, nil)[0].Title
			if printed != numbered || len(r.Against) > 0 != numbered || strings.HasPrefix(drawn, "Figure 1. ") != numbered || strings.HasPrefix(r.Tests.Title, "Table 2. ") != numbered || slices.Contains(r.Tests.Configurations, "pareto-low") != numbered {
				t.Errorf("%s: a number beside: %v, figure %q, table %q", set, printed, drawn, r.Tests.Title)
			}
		}
	}
	if d := apart(&scenario.Experiment{Name: "mine"}); d == nil {
		t.Error("what no preset is called as is a paper's")
	}
}
