package sim_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"bourse/hosts"
	"bourse/hosts/sim"
)

// BenchmarkForms prints what an event costs on one host that always has so many tasks,
// with both forms of the machine, without and with a cap: each event is the completion
// of one and the start of another. Where the second becomes the faster decides from how
// many tasks on an engine's machines use it.
func BenchmarkForms(b *testing.B) {
	for _, limit := range []float64{0, 1} {
		for _, n := range []int{4, 8, 16, 32, 64, 128, 1000, 10_000, 100_000} {
			for _, form := range []struct {
				name string
				many int
			}{{"linear", sim.Linear}, {"virtual", sim.Virtual}} {
				if form.many == sim.Linear && n > 1000 {
					continue
				}
				b.Run(fmt.Sprintf("cap=%v/tasks=%d/%s", limit, n, form.name), func(b *testing.B) {
					m := new(sim.Machine)
					m.SetMany(form.many)
					m.Reset(hosts.Spec{CPUs: 1 + limit, Speed: 1, Cap: limit})
					d, rng := demand{1, 1 << 16, 1, 1}.workload(1), rand.New(rand.NewPCG(1, 2))
					start := func(now float64, i int) {
						j := &d.Jobs[i%len(d.Jobs)]
						m.Start(now, hosts.Task{Work: j.Work * (0.5 + rng.Float64())}, hosts.Share{Weight: float64(j.Rate)})
					}
					for i := range n {
						start(0, i)
					}
					var out []hosts.Report
					events := 0
					took := time.Duration(0)
					for b.Loop() {
						took += best(1, func() {
							for range 1000 {
								at := m.Next()
								out = m.Advance(at, out[:0])
								for range out {
									start(at, events)
									events++
								}
							}
						})
					}
					b.ReportMetric(float64(took.Nanoseconds())/float64(events), "ns/exchange")
					b.ReportMetric(0, "ns/op")
				})
			}
		}
	}
}
