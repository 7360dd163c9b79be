package main

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"bourse/experiments"
	"bourse/experiments/papers"
)

var measure = flag.Bool("presets.measure", false, "run every preset once and keep what it took, in experiments/papers/measured.json")

// TestMeasured checks that each preset has a line, and that what it takes was measured; or
// measures it, which takes minutes.
func TestMeasured(t *testing.T) {
	t.Parallel()
	if *measure {
		measurePresets(t)
		return
	}
	all, err := experiments.Presets()
	if err != nil || len(all) != len(papers.Names()) {
		t.Fatalf("found %d presets of %d: %v", len(all), len(papers.Names()), err)
	}
	for _, p := range all {
		if p.Title == "" || p.Replications < 1 || p.Seconds <= 0 || p.Megabytes <= 0 {
			t.Errorf("found %+v: -presets.measure measures it", p)
		}
	}
	if got, want := len(papers.Measured()), len(papers.Presets()); got != want {
		t.Errorf("%d presets are measured, of %d", got, want)
	}
}

func measurePresets(t *testing.T) {
	all := make(map[string]papers.Cost)
	for name := range papers.Presets() {
		run := exec.Command("bourse", "run", "--preset", name, "--replications", "1", "--workers", "1", "--quiet", "--out", filepath.Join(t.TempDir(), "r"))
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		used := run.ProcessState.SysUsage().(*syscall.Rusage)
		cost := papers.Cost{
			Seconds:   float64((run.ProcessState.UserTime() + run.ProcessState.SystemTime()).Milliseconds()) / 1000,
			Megabytes: float64(used.Maxrss / 1024),
		}
		t.Logf("%s: %.2f s, %.0f MB", name, cost.Seconds, cost.Megabytes)
		all[name] = cost
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("..", "..", "experiments", "papers", "measured.json"), append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
