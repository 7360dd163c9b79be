package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestScenarioExamples checks that each of the twelve files in experiments/examples is in
// order, begins with a comment whose commands there are, and runs.
func TestScenarioExamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "experiments", "examples", "*.yaml"))
	if err != nil || len(files) != 12 {
		t.Fatalf("found %d examples, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil || !strings.HasPrefix(string(text), "# ") {
				t.Errorf("found no comment, %v", err)
			}
			app := newApp(nil, nil, nil)
			for line := range strings.Lines(string(text)) {
				if _, call, ok := strings.Cut(line, " bourse "); ok && wrongCall(app, call) != "" {
					t.Errorf("%q: %s", line, wrongCall(app, call))
				}
			}
			status, out, errs := bourse(t, t.Context(), "run", file, "--replications", "2", "--quiet", "--tables", "none", "--out", filepath.Join(t.TempDir(), "r"))
			if status != statusDone || !strings.Contains(out, "\nResults  ") {
				t.Errorf("exit status %d: %s%s", status, errs, out)
			}
		})
	}
}
