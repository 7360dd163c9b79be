package results

import (
	"encoding/csv"
	"fmt"
	"io"
	"testing"
	"time"
)

// BenchmarkJobs encodes rows for jobs.csv and jobs.parquet. It prints the time relative to
// the simplest CSV encoding: fmt.Sprint of each field with encoding/csv.
func BenchmarkJobs(b *testing.B) {
	rows := make([]Job, 50)
	for i := range rows {
		rows[i] = jobs[i%len(jobs)]
	}
	out := NewEncoder(Both, nil)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for i := range rows {
			rows[i].Arrival = float64(n) * 1.7
			n++
		}
		if err := out.Jobs(rows); err != nil {
			b.Fatal(err)
		}
		if n%rowsPerGroup < len(rows) {
			if _, err := out.Block(); err != nil {
				b.Fatal(err)
			}
		}
	}
	ours := b.Elapsed() / time.Duration(n)
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")

	plainly := csv.NewWriter(io.Discard)
	from := time.Now()
	for i := range 20_000 {
		j := &rows[i%len(rows)]
		record := []string{
			j.Configuration, j.Admission, fmt.Sprint(j.Replication), j.Job, j.User, fmt.Sprint(j.Arrival), fmt.Sprint(j.Runtime),
			fmt.Sprint(j.Nodes), j.Value.String(), j.Decision, j.Reason, plain(j.Start), plain(j.Finish), fmt.Sprint(j.Work),
			plain(j.WorkDone), plain(j.Paid), plain(j.Penalty), plain(j.Fulfilled),
		}
		if err := plainly.Write(record); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(ours)/float64(time.Since(from)/20_000), "x-plain-csv")
}

func plain[T any](x *T) string {
	if x == nil {
		return ""
	}
	return fmt.Sprint(*x)
}
