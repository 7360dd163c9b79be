package publication

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"bourse/experiments"
	"bourse/experiments/results"
)

// BenchmarkPublish runs the market paper with files and statistics. It reports the time of
// a run and how many times faster two workers are than one.
func BenchmarkPublish(b *testing.B) {
	const replications = 400
	e := paper(b, replications)
	ready, err := experiments.Prepare(e)
	if err != nil {
		b.Fatal(err)
	}
	runs := 0
	for _, c := range e.Configurations {
		runs += len(c.Admission) * replications
	}
	var walls [3]float64
	for b.Loop() {
		for workers := 1; workers <= 2; workers++ {
			before := b.Elapsed().Seconds()
			_, err := Publish(context.Background(), ready, experiments.Options{Workers: workers}, Target{
				Dir: filepath.Join(b.TempDir(), "out"), Elapsed: func() float64 { return 0 },
			})
			if err != nil {
				b.Fatal(err)
			}
			walls[workers] += b.Elapsed().Seconds() - before
		}
	}
	b.ReportMetric((walls[1]+walls[2])/float64(2*b.N*runs)*1e6, "us/run")
	b.ReportMetric(walls[1]/walls[2], "x-workers-2")
}

// TestLargeStudy checks which ledgers a study of more than 250 runs stores.
func TestLargeStudy(t *testing.T) {
	t.Parallel()
	const text = `name: large
replications: 2
sweep: [{path: fleet.hosts, values: 1..%d/1}]
base:
  workload: {model: {name: paper, jobs: 2}}
  admission: [be]
configurations: [{name: all}]
`
	for _, c := range []struct {
		cells   int
		all     bool
		ledgers int
	}{{3, false, 3}, {3, true, 6}, {251, false, 1}} {
		ready, err := experiments.Prepare(parsed(t, fmt.Sprintf(text, c.cells)))
		if err != nil {
			t.Fatal(err)
		}
		to := to(t, ready, filepath.Join(t.TempDir(), "results"))
		to.Ledgers = c.all
		if _, err := Publish(t.Context(), ready, experiments.Options{Workers: 2}, to); err != nil {
			t.Fatal(err)
		}
		d, err := results.Open(to.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(d.Manifest.Ledgers); n != c.ledgers {
			t.Errorf("%d cells, all ledgers %t: found %d ledgers, want %d", c.cells, c.all, n, c.ledgers)
		}
	}
}
