package publication

import (
	"fmt"
	"path/filepath"
	"testing"

	"bourse/experiments"
	"bourse/experiments/papers"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// parsed returns the experiment in a scenario file.
func parsed(t testing.TB, text string, sets ...string) *scenario.Experiment {
	t.Helper()
	e, err := scenario.Parse("test", []byte(text), experiments.Known(), sets...)
	if err != nil {
		t.Fatal(err)
	}
	return &e
}

// paper returns the experiment of the market paper with few replications.
func paper(t testing.TB, replications int, sets ...string) *scenario.Experiment {
	t.Helper()
	return parsed(t, string(papers.Presets()["paper"]), append(sets, fmt.Sprintf("replications=%d", replications))...)
}

// few returns the paper's market in units of a few replications.
func few(t testing.TB, replications int, sets ...string) *experiments.Prepared {
	t.Helper()
	ready, err := experiments.Prepare(paper(t, replications, sets...))
	if err != nil {
		t.Fatal(err)
	}
	ready.UnitRows = 3 * 50 * 4
	return ready
}

// kept runs e and returns the study without its files.
func kept(t *testing.T, e *scenario.Experiment) *Report {
	t.Helper()
	ready, err := experiments.Prepare(e)
	if err != nil {
		t.Fatal(err)
	}
	to := to(t, ready, filepath.Join(t.TempDir(), "units"))
	to.Tables, to.Bare = results.None, true
	s, units, err := Keep(t.Context(), ready, experiments.Options{Workers: 2}, to)
	if err != nil {
		t.Fatal(err)
	}
	if err := units.Remove(); err != nil {
		t.Fatal(err)
	}
	return &Report{Study: s}
}
