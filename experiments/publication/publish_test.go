package publication

import (
	"context"
	"path/filepath"
	"testing"

	"bourse/experiments"
)

// BenchmarkPublish runs the market paper with files and statistics, and tells the
// time of a run, and how many times faster two workers are than one.
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
