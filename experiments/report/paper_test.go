package report_test

import (
	"strings"
	"testing"

	"bourse/experiments/report"
	"bourse/experiments/results"
)

// TestPaperTable checks that the difference from a printed number is compared with a limit, not
// with the interval of the measured mean, which narrows as n increases.
func TestPaperTable(t *testing.T) {
	t.Parallel()
	row := func(mean, paper float64, sd *float64) results.Summary {
		return results.Summary{Configuration: "c", Admission: "be", Metric: "m", N: 200, Mean: &mean, SD: sd, Lo95: new(mean - 0.001), Hi95: new(mean + 0.001), Paper: &paper}
	}
	for _, c := range []struct {
		row  results.Summary
		want string
	}{
		{row(0.5, 0.55, new(0.1)), "yes"}, // outside the interval of the mean, but within the limit
		{row(0.5, 0.62, new(0.1)), "no"},
		{row(0.5, 0.6, new(0.1)), "yes"}, // at the limit, except for a rounding error
		{row(0.5, 0.5, nil), "–"},
	} {
		table := report.PaperTable(nil, []results.Summary{c.row}, 5, func(s results.Summary) (float64, bool) { return 0.1, s.SD != nil })
		got := table.Rows[0][len(table.Header)-1]
		if got.Text != c.want || got.Strong != (c.want == "no") {
			t.Errorf("%v beside %v: %+v, want %s", *c.row.Mean, *c.row.Paper, got, c.want)
		}
		if !strings.Contains(table.Note, "√(1/n + 1/5)") || !strings.Contains(table.Note, "half a unit") {
			t.Errorf("the note does not state the interval: %s", table.Note)
		}
	}
}
