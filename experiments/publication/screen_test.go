package publication

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"bourse/experiments"
	"bourse/experiments/papers"
	"bourse/experiments/report"
	"bourse/experiments/scenario"
)

// TestScreen checks that the first output of a run of any preset fits a screen of 25 lines
// and 80 columns, including the line with the time, and names its figure, the page and the
// results.
func TestScreen(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it compares the policies of every preset")
	}
	for _, name := range slices.Sorted(maps.Keys(papers.Presets())) {
		e, err := scenario.Parse("preset "+name, papers.Presets()[name], experiments.Known())
		if err != nil {
			t.Fatal(err)
		}
		e = e.Expanded()
		for _, e.Replications = range []int{1, 3} {
			if e.Replications > 1 && len(e.Configurations) > 30 {
				continue // the tests of many pairs take seconds
			}
			rng := rand.New(rand.NewPCG(1, uint64(e.Replications)))
			s := &Report{Study: experiments.NewStudy(&e)}
			s.drawn, s.notes = []string{"figure1", "figure2"}, []string{"a note"}
			for c := range s.Cells {
				for p := range s.Cells[c] {
					for m := range s.Cells[c][p].Values {
						for range e.Replications {
							s.Cells[c][p].Values[m] = append(s.Cells[c][p].Values[m], rng.Float64())
						}
					}
				}
			}
			for _, terminal := range []report.Terminal{{}, {UTF8: true, Width: 200, Color: true}} {
				text := s.Screen(terminal, "results/"+name, "13 audited, 1285 entries: clean")
				lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
				if len(lines) > screenLines {
					t.Errorf("%s, %d replications: %d lines, want %d at most:\n%s", name, e.Replications, len(lines), screenLines, text)
				}
				for _, line := range lines {
					if utf8.RuneCountInString(line) > screenColumns {
						t.Errorf("%s, %d replications: %q is wider than %d columns", name, e.Replications, line, screenColumns)
					}
				}
				for _, want := range []string{"results/" + name + "/figures/figure1.svg", "results/" + name + "/report.html", "bourse show tables"} {
					if !strings.Contains(text, want) {
						t.Errorf("%s: no %q in\n%s", name, want, text)
					}
				}
			}
		}
	}
}
