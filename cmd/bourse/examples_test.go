package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCommandExamples runs the examples in the help of 'run' and then those of the commands
// that read its results. The examples run one after another in one folder, with fewer jobs than
// in the help. Examples that need a file of the user are skipped.
func TestCommandExamples(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it runs the paper several times")
	}
	all, dir := leaves("", newApp(nil, nil, nil).Commands), t.TempDir()
	own := regexp.MustCompile(`slurm|\.gz|\.pub|--live|FILE|DIR|LOG |results/(a|b|guarantee) |books|--job 1000`)
	ran := 0
	for _, name := range []string{"run", "show tables", "show claims", "show curve", "show prices", "show jobs", "plot", "curve", "figures", "compare", "explain", "ledger show", "ledger audit", "study replay", "study advise"} {
		command := all[name]
		if command == nil {
			t.Fatalf("there is no command %s", name)
		}
		for line := range strings.Lines(command.Description) {
			line, shown := strings.CutPrefix(line, "   bourse ")
			line, _, _ = strings.Cut(strings.TrimSpace(line), "  ")
			if !shown || own.MatchString(line+" ") {
				continue
			}
			line = strings.NewReplacer("0.02", "0.5").Replace("bourse " + line)
			if !strings.Contains(line, "run merge") {
				line = strings.Replace(line, "bourse run", "bourse run --set workload.model.jobs=20", 1)
			}
			c := exec.Command("sh", "-c", line)
			c.Dir = dir
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", line, err, out)
			}
			ran++
		}
	}
	if ran < 25 {
		t.Errorf("ran %d examples, want 25 at least", ran)
	}
}

// TestScenarioExamples checks each of the twelve files in experiments/examples. The file
// must be valid, start with a comment whose commands exist, and run.
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
