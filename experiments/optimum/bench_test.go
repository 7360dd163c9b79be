package optimum_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"bourse/experiments/optimum"
	"bourse/workloadgen"
)

// BenchmarkSolve measures Solve on traces of the paper's kind. It reports how many times longer
// the alternatives take: the plain dynamic program and, for fewer jobs, branch and bound and a
// search of every subset.
func BenchmarkSolve(b *testing.B) {
	for _, c := range []struct {
		name        string
		jobs        int
		least, mean float64
		rival       func([]workloadgen.Job, int, int) float64
		ratio       string
	}{
		{"low", 50, 90, 153.66, plain, "plain-program/solver"},
		{"high", 50, 30, 92.36, plain, "plain-program/solver"},
		{"dense", 50, 5, 40, plain, "plain-program/solver"},
		{"high-25-jobs", 25, 30, 92.36, branchAndBound, "branch-and-bound/solver"},
		{"high-16-jobs", 16, 30, 92.36, bruteForce, "every-subset/solver"},
	} {
		b.Run(c.name, func(b *testing.B) {
			var traces [32][]workloadgen.Job
			for seed := range traces {
				traces[seed] = paperJobs(rand.New(rand.NewPCG(uint64(seed), 9)), c.jobs, c.least, c.mean)
			}
			began := time.Now()
			for _, jobs := range traces[:4] {
				c.rival(jobs, capacity, hosts)
			}
			rival := time.Since(began)
			var s optimum.Solver
			began = time.Now()
			const times = 20
			for range times {
				for _, jobs := range traces[:4] {
					s.Solve(jobs, capacity, hosts, optimum.Limits{})
				}
			}
			ratio := float64(rival) / (float64(time.Since(began)) / times)
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				s.Solve(traces[i%len(traces)], capacity, hosts, optimum.Limits{})
				i++
			}
			b.ReportMetric(ratio, c.ratio)
		})
	}
}

// BenchmarkOverload measures 3,000 jobs in overload, where effort is limited. It reports by
// what fraction the value of the plan may be below the optimum.
func BenchmarkOverload(b *testing.B) {
	jobs := paperJobs(rand.New(rand.NewPCG(1, 9)), 3000, 1, 20)
	var s optimum.Solver
	for b.Loop() {
		r := s.Solve(jobs, capacity, hosts, optimum.Limits{})
		b.ReportMetric(float64(r.States), "states")
		b.ReportMetric((r.Bound-r.Value)/r.Value, "gap")
	}
}
