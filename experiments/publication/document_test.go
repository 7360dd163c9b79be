package publication

import (
	"slices"
	"testing"

	"bourse/experiments"
	"bourse/experiments/papers"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// TestBesidePrinted checks that the table of printed numbers omits only values that are
// true by definition, such as the rejections of best effort. It must not omit a measured
// rejection of best effort, or a zero of another policy.
func TestBesidePrinted(t *testing.T) {
	t.Parallel()
	for set, want := range map[string][]string{
		"seed=1":                       {"Be Violations 0.000", "Be Rejections 0.100", "Cac Rejections 0.000"},
		"base.needs={min: {cpu: 0.1}}": {"Be Violations 0.000", "Be Rejections 0.000", "Be P a 1.000", "Be Rejections 0.100", "Cac Rejections 0.000"},
	} {
		e, err := scenario.Parse("paper", papers.Presets()["paper"], experiments.Known(), set)
		if err != nil {
			t.Fatal(err)
		}
		row := func(admission, metric string, mean, paper float64) results.Summary {
			return results.Summary{Configuration: "pareto-high", Admission: admission, Metric: metric, N: 5, Mean: &mean, SD: new(0.0), Paper: &paper}
		}
		table := besidePrinted(nil, &e, new(papers.Of("paper")), []results.Summary{
			row("be", "violations", 0, 0), row("be", "rejections", 0, 0), row("be", "p_a", 1, 1), row("be", "rejections", 0.1, 0), row("cac", "rejections", 0, 0),
		})
		var got []string
		for _, cells := range table.Rows {
			got = append(got, cells[1].Text+" "+cells[2].Text+" "+cells[4].Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: rows %q, want %q", set, got, want)
		}
	}
}
