package publication

import (
	"path/filepath"
	"strings"
	"testing"

	"bourse/experiments"
	"bourse/experiments/report"
	"bourse/experiments/scenario"
)

// TestEveryPolicy adds a policy with a name that no paper knows to an experiment. The
// policy must be in every table of its configuration and in the findings, whether the
// experiment is a paper's, has a sweep or has its own figure.
func TestEveryPolicy(t *testing.T) {
	t.Parallel()
	const small = "base: {fleet: {hosts: 5}, workload: {model: {name: paper, jobs: 9}}, admission: [be, cac, {name: cac, label: mine}]}\n"
	for name, text := range map[string]string{
		"paper":  "name: paper\nreplications: 2\n" + small + "configurations: [pareto-high, pareto-low]\n",
		"swept":  "name: x\nreplications: 2\nsweep: [{path: fleet.hosts, values: [5, 9]}]\n" + small + "configurations: [a]\n",
		"figure": "name: x\nreplications: 2\nfigure: {metrics: [violations, utilization]}\n" + small + "configurations: [a, b]\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := scenario.Parse(name, []byte(text), experiments.Known())
			if err != nil {
				t.Fatal(err)
			}
			ready, err := experiments.Prepare(&e)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Publish(t.Context(), ready, experiments.Options{Workers: 2}, Target{
				Dir: filepath.Join(t.TempDir(), "r"), Scenario: text, Elapsed: func() float64 { return 0 },
			})
			if err != nil {
				t.Fatal(err)
			}
			d := s.Document("r")
			if len(d.Tables) == 0 {
				t.Error("no table")
			}
			for _, table := range d.Tables {
				if !mentions(table, "Mine") {
					t.Errorf("the table %q has no Mine:\n%s", table.Title, table.Text(report.Terminal{UTF8: true}))
				}
			}
			if said := strings.Join(d.Findings, " "); !strings.Contains(said, "Mine") {
				t.Errorf("the findings are %q", said)
			}
		})
	}
}

// mentions reports whether a table contains the name in its header or a cell.
func mentions(t report.Table, name string) bool {
	text := strings.Join(t.Header, "\n")
	for _, row := range t.Rows {
		for _, c := range row {
			text += "\n" + c.Text
		}
	}
	return strings.Contains(text, name)
}
