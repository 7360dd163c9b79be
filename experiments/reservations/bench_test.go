package reservations

import (
	"testing"
	"time"
)

// BenchmarkRun replays 4,000 jobs on four clusters of 64 nodes at a load of
// about 0.7, half of them reservations with wrong estimates. It prints jobs a
// second with mli, and how many times longer that takes than with ff, which
// asks one cluster where mli asks all.
func BenchmarkRun(b *testing.B) {
	d := demand{jobs: 4000, share: 0.5, laxity: 1, inexact: true, nodes: 64, clusters: 4, meanGap: 0.3}
	jobs := d.draw(1)
	var ff time.Duration
	for b.Loop() {
		d.run(b, "mli", jobs)
		b.StopTimer()
		begin := time.Now()
		d.run(b, "ff", jobs)
		ff += time.Since(begin)
		b.StartTimer()
	}
	b.ReportMetric(float64(b.N*len(jobs))/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(float64(b.Elapsed())/float64(ff), "x_ff")
}
