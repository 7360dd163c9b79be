package publication

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bourse/experiments"
)

// TestUntil checks that a run stops at the first check at which every interval is narrow, for
// any number of workers and even if the run was interrupted. The rows must equal the rows of a
// run with a fixed number of replications. Intervals that are too wide at the end must be
// reported.
func TestUntil(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	sets := []string{"until={min: 4, metric: violations, half_width: 0.12}", "base.workload.model.jobs=15"}
	ready := few(t, 60, sets...)
	want := filepath.Join(base, "want")
	s, err := Publish(t.Context(), ready, experiments.Options{Workers: 1}, to(t, ready, want))
	if err != nil {
		t.Fatal(err)
	}
	if err := ready.Each(t.Context(), experiments.Options{}, func(*experiments.Replication) error { return errors.New("it was run") }); err == nil || !strings.Contains(err.Error(), "until: found violations") {
		t.Errorf("one by one: %v", err)
	}
	n := s.Experiment.Replications
	looks := ready.Looks()
	at := slices.Index(looks, n)
	if at < 1 || n == 60 || len(s.wide()) > 0 {
		t.Fatalf("stopped at %d of the looks %v with %v", n, looks, s.wide())
	}
	earlier := &Report{Study: experiments.NewStudy(s.Experiment)}
	earlier.Experiment.Replications = looks[at-1]
	for i := range s.Cells {
		for k := range s.Cells[i] {
			for m, xs := range s.Cells[i][k].Values {
				earlier.Cells[i][k].Values[m] = xs[:looks[at-1]]
			}
		}
	}
	if len(earlier.wide()) == 0 {
		t.Errorf("it could have stopped at %d", looks[at-1])
	}
	if notes := strings.Join(s.told(), "\n"); !strings.Contains(notes, "Stopped after") || !strings.Contains(notes, "by betting on values within [0, 1]") {
		t.Errorf("notes %s", notes)
	}

	again := filepath.Join(base, "again")
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Publish(ctx, ready, experiments.Options{Workers: 2, Progress: func(done, _ int) {
		if done > 9 {
			cancel()
		}
	}}, to(t, ready, again)); err == nil {
		t.Error("it was not stopped")
	}
	if _, err := Publish(t.Context(), ready, experiments.Options{Workers: 2}, to(t, ready, again)); err != nil {
		t.Fatal(err)
	}
	same(t, again, want)

	fixed := few(t, n, sets[1])
	whole := filepath.Join(base, "whole")
	if _, err := Publish(t.Context(), fixed, experiments.Options{Workers: 2}, to(t, fixed, whole)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"jobs.csv", "metrics.csv", "curve.csv"} {
		got, err := os.ReadFile(filepath.Join(want, name))
		same, wrong := os.ReadFile(filepath.Join(whole, name))
		if err != nil || wrong != nil || !bytes.Equal(got, same) {
			t.Errorf("%s is not that of %d replications: %v, %v", name, n, err, wrong)
		}
	}

	few := few(t, 6, "until={min: 3, metric: utilization, half_width: 1e-6}", sets[1])
	s, err = Publish(t.Context(), few, experiments.Options{Workers: 2}, to(t, few, filepath.Join(base, "few")))
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(s.told(), "\n"); s.Experiment.Replications != 6 || !strings.Contains(notes, "Undecided after 6 replications: ") || !strings.Contains(notes, "would make the interval narrow enough") {
		t.Errorf("%d replications, notes %s", s.Experiment.Replications, notes)
	}
}
