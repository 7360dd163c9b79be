package publication

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bourse/experiments"
	"bourse/experiments/scenario"
)

// TestAlike checks that replications of an unchanged plan are reported as no sample, without
// deviations and intervals, and that replications with random parts are reported as a sample.
func TestAlike(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plan := filepath.Join(dir, "plan.csv")
	if err := os.WriteFile(plan, []byte("id,user,arrival,runtime,nodes,value\n1,1,0,100,1,5\n2,2,50,100,1,5\n3,2,60,100,1,9\n4,3,500,100,1,9\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	e, err := scenario.Parse("alike.yaml", []byte(`
name: alike
replications: 3
base: {fleet: {hosts: 1, cpus: 1}, workload: {plan: "`+plan+`"}, admission: [be, cac]}
configurations:
  - fixed
  - {name: worth, workload: {annotate: {value: pareto, budget: 10}}}
  - {name: hosts, fleet: {availability: {model: markov}}}
`), experiments.Known())
	if err != nil {
		t.Fatal(err)
	}
	ready, err := experiments.Prepare(&e)
	if err != nil {
		t.Fatal(err)
	}
	if len(ready.Alike()) != 1 || ready.Alike()[0] != "fixed" {
		t.Errorf("alike are %q, want fixed alone", ready.Alike())
	}
	s, err := Publish(t.Context(), ready, experiments.Options{}, to(t, ready, filepath.Join(dir, "out")))
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(s.told(), "\n"); !strings.Contains(notes, "fixed: every replication has the same jobs on the same hosts") {
		t.Errorf("notes %s", notes)
	}
	spread := map[string]bool{}
	for _, row := range s.SummaryRows() {
		if row.SD != nil || row.Lo95 != nil || row.Hi95 != nil {
			spread[row.Configuration] = true
		}
	}
	if spread["fixed"] || !spread["worth"] || !spread["hosts"] {
		t.Errorf("intervals in %v, want all but fixed", spread)
	}
	for _, table := range s.Document("out").Tables {
		for _, row := range table.Rows {
			if last := row[len(row)-1].Text; row[0].Text == "Fixed" && strings.Contains(table.Title, "differences") && last != "no sample" {
				t.Errorf("%s: %v is %s, want no sample", table.Title, row, last)
			}
		}
	}
}
