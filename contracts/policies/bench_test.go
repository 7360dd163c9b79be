package policies

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"bourse/contracts/admission/policytest"
	"bourse/contracts/broker"
	"bourse/hosts"
)

// window draws jobs with the moments of the papers' window of the SDSC SP2 log: 17 of 128
// processors and 2.5 h on average. Estimates are one to twenty times the true runtime. The
// arrival rate gives the requested load.
func window(seed uint64, n, processors int, load float64) []job {
	rng := rand.New(rand.NewPCG(seed, 0))
	jobs := make([]job, n)
	now := 0.0
	for i := range jobs {
		procs := min(processors, 1<<rng.IntN(8), 1<<rng.IntN(8)*4)
		runtime := math.Exp(7.4 + 1.9*rng.NormFloat64())
		factor := 16.0
		if rng.Float64() < 0.2 {
			factor = 4
		}
		jobs[i] = job{
			ID: int64(i), Submit: now, Runtime: runtime, Estimate: runtime * math.Exp(3*rng.Float64()), Procs: procs,
			Deadline: runtime * max(1.01, factor*(1+0.25*rng.NormFloat64())), Budget: runtime, Penalty: 0.1,
		}
		now += rng.ExpFloat64() * runtime * float64(procs) / float64(processors) / load
	}
	return jobs
}

// replay runs jobs through a broker and returns the total time and the time spent in the
// policy.
func replay(b *testing.B, jobs []job, processors int, policy string, o options) (whole, own time.Duration) {
	w := newWorld(b, policytest.Uniform(processors), policy, o)
	start := time.Now()
	for i := range jobs {
		j := &jobs[i]
		check(b, w.broker.Advance(j.Submit))
		r := j.Request()
		r.Owner = w.user
		must(w.broker.Submit(j.Submit, &r, hosts.Task{Work: j.Runtime}))
	}
	return time.Since(start), w.deciding
}

// BenchmarkWindow runs 2,722 jobs on 128 processors, from submission to settlement, under each
// policy.
func BenchmarkWindow(b *testing.B) {
	jobs := window(1, 2722, 128, 0.8)
	for _, policy := range []string{"libra", "librarisk", "librasla", "edf", "fcfs", "easy"} {
		b.Run(policy, func(b *testing.B) {
			var whole, own time.Duration
			for b.Loop() {
				all, deciding := replay(b, jobs, 128, policy, nil)
				whole, own = whole+all, own+deciding
			}
			b.ReportMetric(float64(whole.Nanoseconds())/float64(b.N*len(jobs)), "ns/job")
			b.ReportMetric(float64(own.Nanoseconds())/float64(b.N*len(jobs)), "ns-deciding/job")
		})
	}
}

// narrow draws jobs with few processors that keep a fleet busy.
func narrow(seed uint64, n, fleet int) []job {
	jobs := window(seed, n, fleet, 1)
	rng := rand.New(rand.NewPCG(seed, 1))
	now := 0.0
	for i := range jobs {
		j := &jobs[i]
		j.Procs, j.Submit = 1<<rng.IntN(4), now
		now += rng.ExpFloat64() * j.Runtime * float64(j.Procs) / float64(fleet)
	}
	return jobs
}

// BenchmarkLongTrace runs a long trace on 1,000 hosts under Libra, from submission to
// settlement. It measures the memory per active contract at the end, and the memory per
// contract at the peak. Jobs are drawn as they arrive, and ended contracts are forgotten. The
// ratio divides the memory per contract at the peak by the memory per contract after a tenth of
// the jobs.
func BenchmarkLongTrace(b *testing.B) {
	const fleet = 1000
	tenth := 0.0
	for _, n := range []int{100_000, 1_000_000} {
		if n > 100_000 && testing.Short() {
			break
		}
		b.Run(fmt.Sprint(n, "-jobs"), func(b *testing.B) {
			var held, active, most float64
			for b.Loop() {
				w := newWorld(b, policytest.Uniform(fleet), "libra", nil)
				w.broker.Reset(func(c broker.Config) broker.Config { c.NoPrices = true; return c }(w.broker.Config))
				before := inUse()
				now := 0.0
				for block := range uint64(n / 1000) {
					start := now
					for i, j := range narrow(block, 1000, fleet) {
						j.ID = int64(block)*1000 + int64(i)
						j.Submit += start
						j.Budget = 1
						now = j.Submit
						check(b, w.broker.Advance(now))
						r := j.Request()
						r.Owner = w.user
						must(w.broker.Submit(now, &r, hosts.Task{Work: j.Runtime}))
						w.broker.Forget()
						most = max(most, float64(w.broker.Active()))
					}
					clear(w.on)
				}
				held, active = inUse()-before, float64(w.broker.Active())
				runtime.KeepAlive(w)
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N*n)*1e9, "ns/job")
			b.ReportMetric(held/active, "B/active")
			b.ReportMetric(held/most, "B/most-active")
			if tenth > 0 {
				b.ReportMetric(held/most/tenth, "x-a-tenth")
			}
			tenth = held / most
			b.ReportMetric(active, "active")
		})
	}
}

// inUse returns the number of bytes of memory in use.
func inUse() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
