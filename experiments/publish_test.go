package experiments

import (
	"context"
	"path/filepath"
	"testing"
)

// BenchmarkPublish runs the market paper with files and statistics, and tells the
// processor time of a run, and how many times faster two workers are than one.
func BenchmarkPublish(b *testing.B) {
	const replications = 400
	e := paper(b, replications)
	ready, err := Prepare(e)
	if err != nil {
		b.Fatal(err)
	}
	runs := 0
	for _, c := range e.Configurations {
		runs += len(c.Admission) * replications
	}
	var walls [3]float64
	start := processor()
	for b.Loop() {
		for workers := 1; workers <= 2; workers++ {
			before := b.Elapsed().Seconds()
			_, err := ready.Publish(context.Background(), Options{Workers: workers}, Publication{
				Dir: filepath.Join(b.TempDir(), "out"), Elapsed: func() float64 { return 0 },
			})
			if err != nil {
				b.Fatal(err)
			}
			walls[workers] += b.Elapsed().Seconds() - before
		}
	}
	b.ReportMetric((processor()-start)/float64(2*b.N*runs)*1e6, "cpu-us/run")
	b.ReportMetric(walls[1]/walls[2], "x-workers-2")
}
