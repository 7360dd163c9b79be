package publication

import (
	"path/filepath"
	"strings"
	"testing"

	"bourse/experiments"
	"bourse/experiments/scenario"
)

// TestRefusals checks that notes name the policies that rejected all requests. For a sweep, a
// note must state the number of points at which a policy did so.
func TestRefusals(t *testing.T) {
	t.Parallel()
	const text = `
name: refusals
replications: 2
base: {fleet: {hosts: 2}, workload: {model: {name: paper, jobs: 10, users: 2, nodes: {min: 1, max: 1}}}, admission: [be, cac]}
`
	for rest, want := range map[string]string{
		"configurations: [few, {name: many, workload: {model: {name: paper, jobs: 10, users: 2, nodes: {min: 3, max: 3}}}}]":                                             "Many: BE, CAC refused every request; 'bourse explain' gives the reason for each job.",
		"sweep: [{path: fleet.hosts, values: [1, 2, 3, 4]}]\nconfigurations: [{name: a, workload: {model: {name: paper, jobs: 10, users: 2, nodes: {min: 2, max: 2}}}}]": "In 1 of 4 points, a policy refused every request; 'bourse explain' gives the reason for each job.",
		"configurations: [few]": "",
	} {
		e, err := scenario.Parse("refusals.yaml", []byte(text+rest), experiments.Known())
		if err != nil {
			t.Fatal(err)
		}
		ready, err := experiments.Prepare(&e)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Publish(t.Context(), ready, experiments.Options{}, to(t, ready, filepath.Join(t.TempDir(), "out")))
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, note := range s.told() {
			if strings.Contains(note, "every request") {
				found += note
			}
		}
		if found != want {
			t.Errorf("%s: %q, want %q", rest, found, want)
		}
	}
}
