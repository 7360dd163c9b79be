package whatif

import (
	"context"
	"fmt"
	"testing"
	"time"

	"bourse/experiments"
	"bourse/experiments/papers"
	"bourse/experiments/scenario"
)

// BenchmarkExplain explains jobs in the middle of runs, using a scenario in a results
// directory. At the paper's high load, this should take less than 50 ms. With 1,000 hosts
// and 10^5 jobs, without ledger and files, it should take less than 5 s.
//
//	go test ./experiments/whatif -run '^$' -bench Explain -benchtime 5x
func BenchmarkExplain(b *testing.B) {
	ctx := context.Background()
	b.Run("paper", func(b *testing.B) {
		e, err := scenario.Parse("paper", papers.Presets()["paper"], experiments.Known())
		if err != nil {
			b.Fatal(err)
		}
		e = e.Expanded()
		for _, policy := range []string{"sac", "cac"} {
			for _, job := range []int64{20, 30} {
				b.Run(fmt.Sprintf("%s/job=%d", policy, job), func(b *testing.B) {
					start := time.Now()
					for b.Loop() {
						if _, err := Explain(ctx, &e, nil, "pareto-high/"+policy+"/0", job, 1, false); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(1e3*time.Since(start).Seconds()/float64(b.N), "wall-ms/op")
				})
			}
		}
	})
	for _, policy := range []string{"be", "sac", "cac"} {
		const jobs, hosts = 100_000, 1000
		text := fmt.Sprintf("name: x\nreplications: 1\nbase: {fleet: {hosts: %d}, workload: {model: {name: paper, jobs: %d, users: 1000, iat: {min: 0.1, mean: %v, max: 10}}}}\nconfigurations:\n  - {name: c, admission: [%s]}\n",
			hosts, jobs, 7.0*540/(2*hosts)/0.8, policy)
		e, err := scenario.Parse("large", []byte(text), experiments.Known())
		if err != nil {
			b.Fatal(err)
		}
		e = e.Expanded()
		for _, job := range []int64{1000, 50_000} {
			b.Run(fmt.Sprintf("large/%s/job=%d", policy, job), func(b *testing.B) {
				start := time.Now()
				for b.Loop() {
					r, err := Explain(ctx, &e, nil, "c/"+policy+"/0", job, 1, false)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(len(r.Changes)), "changes")
				}
				b.ReportMetric(time.Since(start).Seconds()/float64(b.N), "wall-s/op")
			})
		}
	}
}
