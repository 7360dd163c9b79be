package optimum_test

import (
	"math"
	"math/rand/v2"

	"bourse/workloadgen"
)

// paperJobs returns a random trace as in the paper's experiment: 50 jobs with runtimes from 120
// to 960 s and 4 to 10 nodes. Pareto values (shape 1.16) weight each user's $100 over five jobs
// by value, runtime and nodes. meanIAT is 153.66 s at low load and 92.36 s at high load, and at
// least least seconds pass between arrivals.
func paperJobs(rng *rand.Rand, n int, least, meanIAT float64) []workloadgen.Job {
	jobs := make([]workloadgen.Job, n)
	// The distribution of runtimes on [120,960] s, as in the workload model.
	cdf := func(seconds float64) float64 {
		x := math.Log(seconds)
		return -0.0125*x*x + 0.3018*x - 0.8184
	}
	quantile := func(p float64) float64 {
		return math.Exp((0.3018 - math.Sqrt(0.3018*0.3018-4*0.0125*(0.8184+p))) / (2 * 0.0125))
	}
	lo, hi := cdf(120), cdf(960)
	var now float64
	weights := make([]float64, (n+4)/5)
	for i := range jobs {
		now += min(480, least+(meanIAT-least)*rng.ExpFloat64())
		runtime := quantile(lo + (hi-lo)*rng.Float64())
		nodes := 4 + int(math.Round(6*binbin(rng)/5))
		weight := math.Pow(1-rng.Float64(), -1/1.16) * runtime * float64(nodes)
		weights[i/5] += weight
		jobs[i] = workloadgen.Job{Arrival: now, Runtime: runtime, Nodes: nodes, Value: weight}
	}
	for i := range jobs {
		jobs[i].Value *= 100 / weights[i/5]
	}
	return jobs
}

// binbin returns a random exponent from 0 to 5.
func binbin(rng *rand.Rand) float64 {
	u := 0.998 * rng.Float64()
	for i, p := range []float64{0.508, 0.144, 0.126, 0.137, 0.048} {
		if u -= p; u < 0 {
			return float64(i)
		}
	}
	return 5
}

// equal gives every dollar of a trace the same weight, so that value is proportional to
// processor-seconds.
func equal(jobs []workloadgen.Job) []workloadgen.Job {
	for i := range jobs {
		jobs[i].Value = jobs[i].Runtime * float64(jobs[i].Nodes)
	}
	return jobs
}

// smallJobs draws jobs whose integer times are often equal or adjacent.
func smallJobs(rng *rand.Rand, most int) []workloadgen.Job {
	jobs := make([]workloadgen.Job, rng.IntN(most+1))
	for i := range jobs {
		jobs[i] = workloadgen.Job{
			Arrival: float64(rng.IntN(20)),
			Runtime: float64(rng.IntN(12)),
			Nodes:   1 + rng.IntN(8),
			Value:   float64(rng.IntN(100)) / 4,
		}
	}
	return jobs
}
