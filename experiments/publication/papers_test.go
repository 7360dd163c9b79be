package publication

import (
	"slices"
	"testing"

	"bourse/experiments/papers"
	"bourse/experiments/scenario"
)

// TestPapers checks that the presets of the Libra papers run without their log, with a few
// generated jobs, and that every metric in their figures is defined somewhere.
func TestPapers(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Concat(papers.Figures("librarisk"), papers.Figures("librasla"), []string{"mixed"}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := scenario.Parse(name, papers.Presets()[name], scenario.Known{}, "replications=1")
			if err != nil {
				t.Fatal(err)
			}
			sets := []string{"replications=1", "base.workload.model.jobs=40"}
			if name == "mixed" {
				sets[1] = "configurations.sp2.workload.model.jobs=40"
			}
			for i, a := range e.Sweep {
				sets = append(sets, "sweep."+string(rune('0'+i))+".values=["+string(a.Values[0])+", "+string(a.Values[len(a.Values)-1])+"]")
			}
			if e, err = scenario.Parse(name, papers.Presets()[name], scenario.Known{}, sets...); err != nil {
				t.Fatal(err)
			}
			s := kept(t, &e)
			rows := s.SummaryRows()
			for _, m := range e.Figure.Metrics {
				defined := false
				for _, r := range rows {
					defined = defined || r.Metric == m && r.N > 0
				}
				if !defined {
					t.Errorf("%s is nowhere defined", m)
				}
			}
			for _, f := range figures(Labels(), s.Experiment, s.Beside(), rows, nil) {
				if _, err := f.SVG(); err != nil {
					t.Error(err)
				}
			}
			if got := len(tables(Labels(), s.Experiment, s.Beside(), rows, nil, nil)); name == "mixed" && got != 1 || name != "mixed" && got != len(e.Figure.Metrics) {
				t.Errorf("%d tables", got)
			}
		})
	}
}
