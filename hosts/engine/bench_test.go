package engine_test

import (
	"fmt"
	"math"
	"runtime"
	"syscall"
	"testing"
	"time"

	"bourse/hosts/engine"
)

// BenchmarkEngine measures both drivers, with and without the limit, for increasing numbers of
// hosts and jobs, at a load of 0.85 and in overload.
func BenchmarkEngine(b *testing.B) {
	for _, size := range []struct{ hosts, jobs int }{
		{15, 1000}, {15, 10_000}, {128, 10_000}, {1000, 10_000}, {1000, 100_000},
	} {
		for _, load := range []float64{0.85, 1.5} {
			for _, limit := range []float64{0, 1} {
				for _, d := range drivers {
					name := fmt.Sprintf("hosts=%d/jobs=%d/load=%v/limit=%v/%s", size.hosts, size.jobs, load, limit, d.name)
					b.Run(name, func(b *testing.B) {
						w := demand{size.hosts, size.jobs, 1 + limit, load}.workload(1)
						var e engine.Engine
						events := run(b, d.run, &e, w, 1+limit, limit)
						b.ReportAllocs()
						least := time.Duration(math.MaxInt64)
						for b.Loop() {
							least = min(least, best(1, func() { run(b, d.run, &e, w, 1+limit, limit) }))
						}
						b.ReportMetric(float64(events)/1e6/least.Seconds(), "Mevents/s")
						b.ReportMetric(0, "ns/op")
					})
				}
			}
		}
	}
}

func run(b *testing.B, drive func(*engine.Engine, *engine.Workload, float64, float64) (engine.Result, error), e *engine.Engine, w *engine.Workload, capacity, limit float64) int64 {
	r, err := drive(e, w, capacity, limit)
	if err != nil {
		b.Fatal(err)
	}
	return r.Events
}

// BenchmarkAgainstReshare prints how many times longer a simulation takes if it allocates every
// task again at every event.
func BenchmarkAgainstReshare(b *testing.B) {
	for _, size := range []struct{ hosts, jobs int }{{15, 1000}, {128, 10_000}, {1000, 100_000}} {
		for _, load := range []float64{0.85, 1.5} {
			for _, limit := range []float64{0, 1} {
				b.Run(fmt.Sprintf("hosts=%d/jobs=%d/load=%v/limit=%v", size.hosts, size.jobs, load, limit), func(b *testing.B) {
					w := demand{size.hosts, size.jobs, 1 + limit, load}.workload(1)
					var e engine.Engine
					var ours, plain time.Duration
					for b.Loop() {
						ours += best(3, func() { run(b, (*engine.Engine).Run, &e, w, 1+limit, limit) })
						plain += best(3, func() { reshare(w, 1+limit, limit) })
					}
					b.ReportMetric(float64(plain)/float64(ours), "times-reshare")
					b.ReportMetric(0, "ns/op")
				})
			}
		}
	}
}

// BenchmarkGrowth prints three ratios: the total time with ten times the jobs, the time per
// event with 1,000 hosts instead of 15, and the time per event with ten times the tasks on an
// overloaded host, which is linear in their number.
func BenchmarkGrowth(b *testing.B) {
	for _, limit := range []float64{0, 1} {
		for _, c := range []struct {
			name       string
			less, more demand
			perEvent   bool
		}{
			{"ten times the jobs", demand{1000, 10_000, 1 + limit, 0.85}, demand{1000, 100_000, 1 + limit, 0.85}, false},
			{"1000 hosts for 15", demand{15, 10_000, 1 + limit, 0.85}, demand{1000, 100_000, 1 + limit, 0.85}, true},
			{"ten times the tasks on a host", demand{15, 1000, 1 + limit, 1.7}, demand{15, 10_000, 1 + limit, 1.7}, true},
			{"10^4 for 10^3 tasks at once", demand{1, 1000, 1 + limit, 1e9}, demand{1, 10_000, 1 + limit, 1e9}, true},
		} {
			b.Run(fmt.Sprintf("limit=%v/%s", limit, c.name), func(b *testing.B) {
				less, more := c.less.workload(1), c.more.workload(1)
				var e, f engine.Engine
				ratio := math.Inf(1)
				for b.Loop() {
					var n, m int64
					x := best(3, func() { n = run(b, (*engine.Engine).RunInOrder, &e, less, 1+limit, limit) })
					y := best(3, func() { m = run(b, (*engine.Engine).RunInOrder, &f, more, 1+limit, limit) })
					r := float64(y) / float64(x)
					if c.perEvent {
						r *= float64(n) / float64(m)
					}
					ratio = min(ratio, r)
				}
				b.ReportMetric(ratio, "times")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// best runs f n times and returns the shortest processor time of a run.
func best(n int, f func()) time.Duration {
	least := time.Duration(math.MaxInt64)
	for range n {
		start := processorTime()
		f()
		least = min(least, processorTime()-start)
	}
	return least
}

// processorTime returns the processor time of this process. Unlike elapsed time, processor time
// does not depend on other programs.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkMemory prints the memory that a first run of 10^5 jobs leaves allocated, including
// plan and results, and the same for a run with 10^5 hosts and 10^6 jobs.
func BenchmarkMemory(b *testing.B) {
	for _, size := range []struct{ hosts, jobs int }{{1000, 100_000}, {100_000, 1_000_000}} {
		b.Run(fmt.Sprintf("hosts=%d/jobs=%d", size.hosts, size.jobs), func(b *testing.B) {
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				w := demand{size.hosts, size.jobs, 2, 0.85}.workload(1)
				var e engine.Engine
				var events int64
				took := best(1, func() { events = run(b, (*engine.Engine).RunInOrder, &e, w, 2, 1) })
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/1e6, "MB")
				b.ReportMetric(float64(events)/1e6/took.Seconds(), "Mevents/s")
				runtime.KeepAlive(w)
				runtime.KeepAlive(&e)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
