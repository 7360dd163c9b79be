//go:build unix

package main

import (
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var kills = flag.Int("kills", 4, "instants at which TestRunKilled kills a run")

// TestRunKilled checks that a run that is killed at random times and then resumed has the
// same bytes as an uninterrupted run and leaves no other files.
func TestRunKilled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts the program many times")
	}
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 2))
	dir := t.TempDir()
	run := func(out string) *exec.Cmd {
		cmd := exec.Command("bourse", "run", "--replications", "100", "--quiet", "--out", out)
		cmd.Dir = dir
		return cmd
	}
	begun := time.Now()
	if out, err := run("whole").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	whole := time.Since(begun)
	killed, finished := 0, 0
	for killed < *kills {
		cmd := run("killed")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(rng.Float64()*float64(whole)), func() { cmd.Process.Kill() })
		err := cmd.Wait()
		if timer.Stop(); err == nil {
			if finished++; finished > 20*(killed+1) {
				t.Fatalf("seed %d: it ends before it can be killed", seed)
			}
			sameFiles(t, filepath.Join(dir, "killed"), filepath.Join(dir, "whole"))
			continue
		}
		killed++
	}
	if out, err := run("killed").CombinedOutput(); err != nil {
		t.Fatalf("seed %d: %v: %s", seed, err, out)
	}
	sameFiles(t, filepath.Join(dir, "killed"), filepath.Join(dir, "whole"))
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("seed %d: left %v, %v", seed, left, err)
	}
	t.Logf("seed %d: killed %d times", seed, killed)
}

// sameFiles compares two results directories except for their manifests.
func sameFiles(t *testing.T, got, want string) {
	t.Helper()
	out, err := exec.Command("diff", "-rq", got, want).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, "manifest.json") {
			t.Error(line)
		}
	}
	if err == nil {
		t.Errorf("%s and %s: the wall time is the same, too", got, want)
	}
}
