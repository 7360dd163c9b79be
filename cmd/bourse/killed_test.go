//go:build unix

package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bourse/experiments/examples/policies"
)

var kills = flag.Int("kills", 4, "instants at which TestRunKilled kills a run")

// outsidePolicies is a scenario with a built-in policy, a program that makes the same
// decisions, and a script that uses a state and random numbers.
const outsidePolicies = `preset: paper
name: policies
replications: 12
base: {workload: {model: {jobs: 25}}}
configurations:
  - name: pareto-high
    admission: [sac, {name: program, label: python, command: [python3, sac.py], files: [sac.py]}, {name: script, label: mine, file: mine.star}]
`

const moody = `def start():
    return {"n": 0, "ended": 0}

def ended(request, outcome, state):
    state["ended"] += 1

def decide(request, market, state):
    state["n"] += 1
    on = market.place()
    if type(on) == "string":
        return reject(on)
    numbers = dict(state)
    return accept(on, numbers) if random() < 0.5 else reject("moody", numbers)
`

// TestRunKilled checks that a run that is killed at random times and then resumed has the
// same bytes as an uninterrupted run and leaves no other files. The same applies to shards that
// are merged, and to other numbers of workers.
func TestRunKilled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts the program many times")
	}
	t.Run("paper", func(t *testing.T) {
		t.Parallel()
		runKilled(t, t.TempDir(), 2, "--replications", "100")
	})
	t.Run("policies", func(t *testing.T) {
		t.Parallel()
		if _, err := exec.LookPath("python3"); err != nil {
			t.Skip("python3 is not installed")
		}
		dir := t.TempDir()
		program, err := policies.Files.ReadFile("sac.py")
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"policies.yaml": outsidePolicies, "mine.star": moody, "sac.py": string(program)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		runKilled(t, dir, 5, "policies.yaml", "--ledger")
		jobs, err := os.ReadFile(filepath.Join(dir, "whole", "jobs.csv"))
		if err != nil {
			t.Fatal(err)
		}
		rows := map[string][]string{}
		for line := range strings.Lines(string(jobs)) {
			fields := strings.SplitN(line, ",", 3)
			rows[fields[1]] = append(rows[fields[1]], fields[2])
		}
		if len(rows["sac"]) != 300 || !slices.Equal(rows["python"], rows["sac"]) {
			t.Errorf("jobs.csv has %d rows of sac in Python and %d rows of sac, want the same 300", len(rows["python"]), len(rows["sac"]))
		}
	})
}

// runKilled kills runs in dir, which then contains the given number of files and the results.
func runKilled(t *testing.T, dir string, files int, args ...string) {
	t.Helper()
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 2))
	run := func(out string, more ...string) *exec.Cmd {
		cmd := exec.Command("bourse", slices.Concat([]string{"run", "--quiet", "--out", out}, args, more)...)
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
	if err != nil || len(left) != files {
		t.Errorf("seed %d: left %v, %v", seed, left, err)
	}
	t.Logf("seed %d: killed %d times", seed, killed)
	for shard, workers := range []string{"1", "2", "8"} {
		if out, err := run(workers, "--workers", workers, "--shard", fmt.Sprintf("%d/3", shard+1)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	merge := exec.Command("bourse", "run", "merge", "8", "1", "2", "--out", "merged", "--quiet")
	merge.Dir = dir
	if out, err := merge.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sameFiles(t, filepath.Join(dir, "merged"), filepath.Join(dir, "whole"))
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
