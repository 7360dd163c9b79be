//go:build unix

package verify_test

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"bourse/bank/audit"
	"bourse/experiments"
	"bourse/experiments/publication"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/experiments/verify"
)

// published runs the given number of jobs of the paper's model, all admitted, on 15 hosts
// with 2 CPUs and returns the results.
func published(b *testing.B, jobs int, budget, iat, slack float64) *results.Dir {
	b.Helper()
	text := fmt.Sprintf(`
name: bench
base:
  workload: {model: {name: paper, jobs: %d, users: 10, budget: %v, iat: {min: 1, mean: %v}, value: {name: pareto, options: {shape: 1.16, min: 1}}}}
  sla: {slack: %v}
configurations: [{name: a, admission: [be]}]
`, jobs, budget, iat, slack)
	e, err := scenario.Parse("bench.yaml", []byte(text), scenario.Known{})
	check(b, err)
	ready, err := experiments.Prepare(&e)
	check(b, err)
	dir := filepath.Join(b.TempDir(), "out")
	_, err = publication.Publish(b.Context(), ready, experiments.Options{}, publication.Target{Dir: dir, Scenario: text, Elapsed: func() float64 { return 0 }})
	check(b, err)
	r, err := results.Open(dir)
	check(b, err)
	return r
}

// audited audits the ledger of results. It must be clean with all charges recomputed.
// audited returns the processor time per entry, including the tables.
func audited(b *testing.B, r *results.Dir) time.Duration {
	b.Helper()
	e, err := scenario.Stored(r.Path, r.Manifest.Scenario)
	check(b, err)
	start := work(b)
	run := verify.Published(r, e, []string{"a/be/0"})[0]
	report, err := audit.Audit(filepath.Join(r.Path, "ledger/a/be/0"), audit.Options{Follow: verify.Follow(run), Chance: rand.Reader})
	took := work(b) - start
	check(b, err)
	if !report.Clean() || report.Computed != report.Admitted || report.Computed != int64(run.Jobs.Len()) {
		b.Fatal(report.Computed, report.Findings)
	}
	return took / time.Duration(report.Entries)
}

func work(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	check(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFollow reports the audit's processor time per entry with recomputed charges. It
// uses as many hosts as 10,000 jobs need, and a sixth of that, where thousands of tasks
// share a host. It also reports the ratio to the time for a tenth of the jobs. Running the
// jobs takes a minute.
func BenchmarkFollow(b *testing.B) {
	for _, c := range []struct {
		name               string
		budget, iat, slack float64
	}{{"load", 1e5, 153.66, 1}, {"overload", 1e7, 20, 1e5}} {
		b.Run(c.name, func(b *testing.B) {
			short, long := published(b, 1000, c.budget, c.iat, c.slack), published(b, 10000, c.budget, c.iat, c.slack)
			least := [2]time.Duration{1 << 62, 1 << 62}
			for b.Loop() {
				least[0], least[1] = min(least[0], audited(b, short)), min(least[1], audited(b, long))
			}
			b.ReportMetric(float64(least[1].Nanoseconds())/1e3, "us/entry")
			b.ReportMetric(10*float64(least[1])/float64(least[0]), "x-of-a-tenth")
		})
	}
}
