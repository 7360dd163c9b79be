package experiments

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"

	"bourse/experiments/scenario"
	"bourse/workloadgen"
)

// crowd returns n jobs that put a load of 0.8 on the given number of hosts with two processors.
// Each job has 4 to 10 nodes and takes 120 to 960 s.
func crowd(n, hosts int) workloadgen.Plan {
	rng := rand.New(rand.NewPCG(1, 1))
	every := 7.0 * 540 / (2 * float64(hosts)) / 0.8 // s
	plan := make(workloadgen.Plan, n)
	now := 0.0
	for i := range plan {
		now += rng.ExpFloat64() * every
		runtime := 120 + 840*rng.Float64()
		plan[i] = workloadgen.Job{
			ID: int64(i), User: int64(i % 1000), Arrival: now, Runtime: runtime, Estimate: runtime, Deadline: runtime,
			Nodes: 4 + rng.IntN(7), Value: 1 + 9*rng.Float64(),
		}
	}
	return plan
}

// BenchmarkScale measures one run of the whole market with up to 10^5 hosts and ten times as
// many jobs. It reports the processor time per job, the ratio of this time to the time with a
// tenth of the hosts and jobs, and the memory per job.
func BenchmarkScale(b *testing.B) {
	for _, policy := range []string{"be", "sac", "cac"} {
		b.Run(policy, func(b *testing.B) {
			before := 0.0
			for _, hosts := range []int{1e3, 1e4, 1e5} {
				b.Run(fmt.Sprintf("hosts=%d", hosts), func(b *testing.B) {
					c := scenario.Default()
					c.Fleet.Hosts = hosts
					model := scenario.Named("paper")
					c.Workload.Model = &model
					c.Admission = []scenario.Choice{scenario.Named(policy)}
					all, err := settings(&scenario.Experiment{Configurations: []scenario.Configuration{c}}, nil)
					if err != nil {
						b.Fatal(err)
					}
					s := all[0]
					a := newWorkspace()
					a.plan = crowd(10*hosts, hosts)
					base, start := heap(), processor()
					var run *Run
					for i := 0; b.Loop(); i++ {
						if run, err = a.run(context.Background(), s, &s.offers[0], 1, 0, nil); err != nil {
							b.Fatal(err)
						}
					}
					job := (processor() - start) / float64(b.N*len(a.plan))
					b.ReportMetric(job*1e6, "cpu-us/job")
					b.ReportMetric((heap()-base)/float64(len(a.plan)), "B/job")
					if before > 0 {
						b.ReportMetric(job/before, "x-a-tenth")
					}
					before = job
					runtime.KeepAlive(run)
				})
			}
		})
	}
}

// processor returns the processor time used so far in seconds.
func processor() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// heap returns the heap memory in use in bytes.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// TestBatches checks that a run with more contracts than the broker stores contains all of
// them. Each job must have its own contract, settled for the amount that its user has lost.
// The last contracts must have ended.
func TestBatches(t *testing.T) {
	t.Parallel()
	const hosts = 30
	c := scenario.Default()
	c.Fleet.Hosts = hosts
	model := scenario.Named("paper")
	c.Workload.Model = &model
	c.Admission = []scenario.Choice{scenario.Named("be")}
	all, err := settings(&scenario.Experiment{Configurations: []scenario.Configuration{c}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := newWorkspace()
	a.plan = crowd(2*atOnce+atOnce/2, hosts)
	run, err := a.run(context.Background(), all[0], &all[0].offers[0], 1, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	var paid, got int64
	end := 0.0
	for i := range run.Jobs {
		j := &run.Jobs[i]
		if !j.Admitted() || j.Contract.Budget != dollars(j.Value) {
			t.Fatalf("job %d is %v, with a budget of %v", j.ID, j.Contract.Outcome, j.Contract.Budget)
		}
		paid += j.Contract.Paid.Micros()
		end = max(end, j.Contract.Ended)
	}
	for _, owner := range a.owners {
		got += a.ledger.Balance(owner).Micros()
	}
	if kept := len(a.broker.Ended()); kept >= atOnce || paid != got || end != run.End {
		t.Errorf("the broker keeps %d contracts; $%d paid, %d received; the last end is %v, want %v", kept, paid, got, run.End, end)
	}
}
