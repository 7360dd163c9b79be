package main

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"bourse/experiments/catalog"
	"bourse/experiments/papers"
)

var measure = flag.String("presets.measure", "", "run the presets that match this `pattern` and keep what they took, in experiments/papers/measured.json")

// TestMeasured checks that the list of measured costs contains each preset. On request, it
// measures the costs, which takes minutes.
func TestMeasured(t *testing.T) {
	t.Parallel()
	if *measure != "" {
		measurePresets(t)
		return
	}
	all, err := catalog.Presets()
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

// measurePresets measures one replication. If a preset is fast, it measures all
// replications, because the fixed cost of a run would otherwise be counted several times.
func measurePresets(t *testing.T) {
	presets, err := catalog.Presets()
	if err != nil {
		t.Fatal(err)
	}
	all, pattern := papers.Measured(), regexp.MustCompile(*measure)
	for _, p := range presets {
		if _, one := papers.Presets()[p.Name]; !one || !pattern.MatchString(p.Name) {
			continue
		}
		cost := measured(t, p.Name, 1)
		if cost.Seconds < 3 {
			cost = measured(t, p.Name, p.Replications)
		} else {
			cost.Seconds *= float64(p.Replications)
		}
		t.Logf("%s: %.1f s, %.0f MB", p.Name, cost.Seconds, cost.Megabytes)
		all[p.Name] = cost
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("..", "..", "experiments", "papers", "measured.json"), append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// measured runs a preset and returns its cost.
func measured(t *testing.T, name string, replications int) papers.Cost {
	run := exec.Command("bourse", "run", "--preset", name, "--replications", strconv.Itoa(replications), "--workers", "1", "--quiet", "--out", filepath.Join(t.TempDir(), "r"))
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
	used := run.ProcessState.SysUsage().(*syscall.Rusage)
	seconds := (run.ProcessState.UserTime() + run.ProcessState.SystemTime()).Seconds()
	return papers.Cost{Seconds: math.Round(10*seconds) / 10, Megabytes: float64(used.Maxrss / 1024)}
}
