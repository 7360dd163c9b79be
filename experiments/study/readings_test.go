package study

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bourse/experiments"
	"bourse/experiments/papers"
	"bourse/experiments/publication"
	"bourse/experiments/report"
)

// TestReadingsResume checks that an interrupted study of readings resumes with the same
// results, and that other readings do not use its data.
func TestReadingsResume(t *testing.T) {
	t.Parallel()
	text := `
name: few
scenario: paper
metrics: [p_w]
replications: 2
strength: 2
confirm: {best: 1, seed: 2}
factors:
  - {name: payment, path: base.market.payment, values: [{value: spot}, {value: bid}]}
  - {name: cap, path: base.fleet.cap, values: [{value: 1}, {value: 0}]}
`
	r, err := ReadReadings("few.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	all := func(d report.Document, err error) (data []byte) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range d.Data {
			data = append(data, file.Data...)
		}
		return data
	}
	whole := all(r.Find(t.Context(), experiments.Options{Workers: 2}, publication.Target{Dir: filepath.Join(t.TempDir(), "whole")}))

	to := publication.Target{Dir: filepath.Join(t.TempDir(), "part")}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = r.Find(ctx, experiments.Options{Progress: func(done, _ int) {
		if done == 20 {
			cancel()
		}
	}}, to)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	seen := -1
	to.Found = func(done, _ int) { seen = max(seen, done) }
	if got := all(r.Find(t.Context(), experiments.Options{}, to)); seen < 18 || string(got) != string(whole) {
		t.Errorf("it found %d replications of 20, and came to the same: %v", seen, string(got) == string(whole))
	}
}

// TestReadingsPresets checks that the readings of papers can be run: every value must
// result in a scenario, and the first value of each factor must be the scenario's own.
func TestReadingsPresets(t *testing.T) {
	t.Parallel()
	presets := papers.Readings()
	if got := slices.Sorted(maps.Keys(presets)); !slices.Equal(got, []string{"market-readings"}) {
		t.Fatalf("readings of %v", got)
	}
	for name, text := range presets {
		r, err := ReadReadings(name, text)
		if err != nil {
			t.Fatal(err)
		}
		if r.Name != name || len(r.readings) < 400 || len(r.numbers) != 46 {
			t.Errorf("%s is called %s: %d readings against %d numbers", name, r.Name, len(r.readings), len(r.numbers))
		}
		known := 0
		for _, n := range r.numbers {
			if n.err != nil {
				known++
			}
		}
		if known != 4 {
			t.Errorf("%d errors are known, want those of Table 2", known)
		}
	}
}

// TestReadingsMetric checks that a metric that is measured only on request is measured if a
// value of a factor names it, and that a table may contain negative numbers.
func TestReadingsMetric(t *testing.T) {
	t.Parallel()
	r, err := ReadReadings("few.yaml", []byte(`
name: few
scenario: paper
metrics: [p_w]
replications: 2
strength: 2
factors:
  - {name: payment, path: base.market.payment, values: [{value: spot}, {value: bid}]}
  - {name: metric, metric: p_w, values: [{value: p_w}, {value: welfare}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	d, err := r.Find(t.Context(), experiments.Options{}, publication.Target{Dir: filepath.Join(t.TempDir(), "out")})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "\n4,", "welfare", ",-"} {
		if text := string(d.Data[i].Data); !strings.Contains(text, want) {
			t.Errorf("%s has no %q:\n%s", d.Data[i].Name, want, text)
		}
	}
}
