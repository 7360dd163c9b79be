package publication

import (
	"maps"
	"math/rand/v2"
	"os"
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
				continue // with many policies, the paired tests take seconds
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

// TestOwnPolicies checks that the screen of a study in which each configuration has its own
// policy has one row per configuration, and states in one sentence that fits which users gain
// and which lose. The page must contain the interval of each user.
func TestOwnPolicies(t *testing.T) {
	t.Parallel()
	e := parsed(t, `name: own
replications: 3
figure: {metrics: [welfare, welfare_high, welfare_low]}
base:
  fleet: {hosts: 4, cpus: 1}
  workload: {model: {name: paper, jobs: 20, users: 5}, annotate: {value: pareto, price: 0.001, urgency: {high: 0.5, deadline: {low: 8, ratio: 4}, budget: {low: 1, ratio: 4}}}}
  market: {sharing: exclusive}
  sla: {enforcement: per-host, deadline: hard}
configurations:
  - {name: free, market: {payment: free}, admission: [fairshare]}
  - {name: list, market: {payment: bid}, admission: [{name: posted, low: 0.0005}]}
  - {name: call, market: {payment: bid}, admission: [{name: call, every: 60}]}
`)
	p, err := experiments.Prepare(e)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() + "/r"
	s, err := Publish(t.Context(), p, experiments.Options{}, Target{Dir: dir, Scenario: "", Elapsed: func() float64 { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	text := s.Screen(report.Terminal{}, dir, "clean")
	for _, want := range []string{"3 configurations, 3 policies", "\nFree ", "\nList ", "\nCall ", "Users, compared with Free: ", " of 5 gain and "} {
		if !strings.Contains(text, want) {
			t.Errorf("the screen has no %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "–") {
		t.Errorf("the screen has empty cells:\n%s", text)
	}
	if n := len(s.gains); n != 10 {
		t.Errorf("%d comparisons of users, want 5 for each of 2 configurations", n)
	}
	page, err := os.ReadFile(dir + "/report.html")
	if err != nil || !strings.Contains(string(page), "gain under the first") {
		t.Errorf("the page does not state how many users gain, %v", err)
	}
}
