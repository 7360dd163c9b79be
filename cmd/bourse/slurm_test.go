//go:build linux

package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var slurmReplications = flag.Int("slurm.replications", 0, "replications of each configuration in TestSlurmFaults, which is skipped without")

// TestSlurm checks that a run on a cluster produces the same bytes as a local run, even if
// arrays must be divided and a task is cancelled.
func TestSlurm(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a cluster")
	}
	cluster := newSlurm(t, 4)
	dir := t.TempDir()
	run := func(args ...string) (string, error) {
		cmd := cluster.command("bourse", append([]string{"run", "--replications", "400", "--workers", "1"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("--out", "here", "--quiet"); err != nil {
		t.Fatal(out)
	}
	if out, err := run("--out", "there", "--on", "slurm", "--chunk", "3", "--dry-run", "--partition", "all", "--time", "5"); err != nil ||
		!strings.Contains(out, "#SBATCH --partition=all\n#SBATCH --time=5\n") || !strings.Contains(out, "--shard \"$SLURM_ARRAY_TASK_ID/6\"") {
		t.Errorf("--dry-run: %v\n%s", err, out)
	}
	// Without --chunk, the program measures the time of one unit. On an idle machine, all units
	// together take less than a minute.
	if out, err := run("--out", "there", "--on", "slurm", "--dry-run"); err != nil || !regexp.MustCompile(`--shard "\$SLURM_ARRAY_TASK_ID/[1-6]"`).MatchString(out) {
		t.Errorf("--dry-run without --chunk: %v\n%s", err, out)
	}
	out, err := run("--out", "there", "--on", "slurm", "--chunk", "3", "--no-wait")
	// Tasks of the first array that have started by then also consume job numbers.
	jobs := regexp.MustCompile(`submitted 6 tasks as job 1, ([0-9]+)\n`).FindStringSubmatch(out)
	if err != nil || jobs == nil {
		t.Fatalf("--no-wait: %v\n%s", err, out)
	}
	cluster.command("scancel", jobs[1]).Run()
	if out, err = run("--out", "there", "--on", "slurm", "--chunk", "3"); err != nil || !strings.Contains(out, "entries: clean") {
		t.Fatalf("%v\n%s", err, out)
	}
	sameFiles(t, filepath.Join(dir, "there"), filepath.Join(dir, "here"))
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("left %v, %v", left, err)
	}

	// A task that fails repeatedly must be reported with the location of its output.
	if out, err = run("--out", "never", "--on", "slurm", "--time", "0:00:01", "--partition", "none"); exitCode(err) != statusFailed || !strings.Contains(out, "sbatch") {
		t.Errorf("a partition that is not there: %v\n%s", err, out)
	}
}

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	exit, ok := err.(*exec.ExitError)
	if !ok {
		return -1
	}
	return exit.ExitCode()
}

// TestSlurmFaults checks that a large run produces the same bytes although a node and the
// controller are killed.
func TestSlurmFaults(t *testing.T) {
	if *slurmReplications == 0 {
		t.Skip("-slurm.replications N runs it")
	}
	cluster := newSlurm(t, 1001)
	dir := t.TempDir()
	args := []string{"run", "--replications", fmt.Sprint(*slurmReplications), "--workers", "1", "--tables", "parquet"}
	begin := func(more ...string) *exec.Cmd {
		cmd := cluster.command("bourse", append(args, more...)...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stdout, os.Stderr
		return cmd
	}
	if err := begin("--out", "here", "--quiet").Run(); err != nil {
		t.Fatal(err)
	}
	for _, fault := range []struct {
		name string
		at   func()
	}{
		{"none", func() {}},
		{"node", func() { cluster.killNode("n2"); time.Sleep(15 * time.Second); cluster.startNode("n2") }},
		{"controller", func() { cluster.killController(); time.Sleep(5 * time.Second); cluster.startController() }},
	} {
		cmd := begin("--out", fault.name, "--on", "slurm")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		fault.at()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", fault.name, err)
			continue
		}
		sameFiles(t, filepath.Join(dir, fault.name), filepath.Join(dir, "here"))
		os.RemoveAll(filepath.Join(dir, fault.name))
	}
}
