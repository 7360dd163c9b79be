package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
)

var growth = flag.Bool("growth", false, "measure how processor time grows with the size of a task, and fail if an exponent is too high")

// A growing is a task at three sizes. The processor time is proportional to size^exponent.
type growing struct {
	what     string
	scenario string // text of the scenario, in which %[1]d is the size
	sizes    [3]int
	command  string  // command that is measured after the run; if empty, the run itself is measured
	most     float64 // highest allowed exponent
}

// market returns a scenario of the paper's jobs on hosts with the given number of processors.
func market(hosts, cpus, jobs, load, slack, rest string) string {
	return fmt.Sprintf(`name: growth
replications: 1
base:
  fleet: {hosts: %s, cpus: %s}
  workload: {model: {name: paper, jobs: %s}, annotate: {load: {target: %s}}}
  sla: {slack: %s}
  %s
configurations: [{name: all}]
`, hosts, cpus, jobs, load, slack, rest)
}

// growings lists the tasks. The allowed exponents are at least 0.15 above the measured ones,
// which vary with the machine's load. A new loop over all hosts, jobs or cells would add about
// 1.
var growings = []growing{
	{"jobs in an overloaded market", market("15", "2", "%[1]d", "8", "1000", "admission: [be]"), [3]int{2000, 4000, 8000}, "", 2.3},
	{"hosts under be, with as many jobs", market("%[1]d", "2", "%[1]d", "0.5", "4", "admission: [be]"), [3]int{5000, 10000, 20000}, "", 1.3},
	{"hosts under sac, with as many jobs", market("%[1]d", "2", "%[1]d", "0.5", "4", "admission: [sac]"), [3]int{5000, 10000, 20000}, "", 1.3},
	{"hosts under cac, with as many jobs", market("%[1]d", "2", "%[1]d", "0.5", "4", "admission: [cac]"), [3]int{5000, 10000, 20000}, "", 1.3},
	{"hosts under librarisk", market("%[1]d", "1", "10000", "0.5", "2", "admission: [librarisk]"), [3]int{300, 1000, 3000}, "", 0.5},
	{"hosts under librasla", market("%[1]d", "1", "5000", "0.5", "2", "admission: [librasla]"), [3]int{300, 1000, 3000}, "", 0.5},
	{"hosts under reserve", `name: growth
replications: 1
base:
  fleet: {hosts: %[1]d, cpus: 2}
  workload: {model: {name: paper, jobs: 10000, nodes: {min: 1, max: 2}}, annotate: {load: {target: 0.5}}}
  market: {sharing: planned, payment: budget}
  sla: {slack: 4}
  admission: [reserve]
configurations: [{name: all}]
`, [3]int{300, 1000, 3000}, "", 0.3},
	{"jobs under easy", market("64", "1", "%[1]d", "0.8", "100", "admission: [easy]"), [3]int{5000, 10000, 20000}, "", 1.4},
	{"entries of an audit", market("100", "2", "%[1]d", "0.5", "4", "admission: [be]"), [3]int{5000, 10000, 20000}, "ledger audit", 1.25},
}

// TestGrowth checks that the exponent of each task is at most the allowed one. It compares only
// times measured on the same machine. It runs each size three times, alternating between sizes,
// and uses the shortest time.
func TestGrowth(t *testing.T) {
	if !*growth {
		t.Skip("it takes minutes: -growth does it")
	}
	for _, g := range growings {
		t.Run(strings.ReplaceAll(g.what, " ", "_"), func(t *testing.T) {
			var sizes, times [3]float64
			for i, n := range g.sizes {
				sizes[i], times[i] = math.Log(float64(n)), math.Inf(1)
			}
			for range 3 {
				for i, n := range g.sizes {
					times[i] = min(times[i], math.Log(g.seconds(t, n)))
				}
			}
			_, exponent := stat.LinearRegression(sizes[:], times[:], nil, false)
			t.Logf("%v: %.2f, %.2f, %.2f s of processor; exponent %.2f, at most %.2f", g.sizes, math.Exp(times[0]), math.Exp(times[1]), math.Exp(times[2]), exponent, g.most)
			if exponent > g.most {
				t.Errorf("%s: exponent %.2f, want at most %.2f", g.what, exponent, g.most)
			}
		})
	}
}

// seconds returns the processor time of the task at size n, in seconds.
func (g *growing) seconds(t *testing.T, n int) float64 {
	dir := t.TempDir()
	file := filepath.Join(dir, "growth.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, g.scenario, n), 0o644); err != nil {
		t.Fatal(err)
	}
	results := filepath.Join(dir, "results")
	words := [][]string{{"run", file, "--out", results, "--quiet", "--workers", "1", "--ledger=false", "--tables", "none"}}
	if g.command != "" {
		words = [][]string{{"run", file, "--out", results, "--quiet"}, append(strings.Fields(g.command), results)}
	}
	var seconds float64
	for _, w := range words {
		run := exec.Command("bourse", w...)
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", w, err, out)
		}
		seconds = (run.ProcessState.UserTime() + run.ProcessState.SystemTime()).Seconds()
	}
	return seconds
}
