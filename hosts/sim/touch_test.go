package sim_test

import (
	"testing"

	"bourse/hosts"
	"bourse/hosts/sim"
)

// TestMachineAllocations checks that a machine that has run its tasks before allocates nothing.
func TestMachineAllocations(t *testing.T) {
	m := sim.New(cpu2())
	out := make([]hosts.Report, 0, 8)
	if got := testing.AllocsPerRun(10, func() {
		m.Reset(cpu2())
		touch(m, &out, 1000)
	}); got != 0 {
		t.Errorf("%v allocations, want 0", got)
	}
}

// touch starts and stops n tasks, three at the same time, and reads rates and the next
// completion in between.
func touch(m *sim.Machine, out *[]hosts.Report, n int) float64 {
	now, sum := 0.0, 0.0
	var slots [3]hosts.Slot
	for i := range n {
		now++
		if i >= len(slots) {
			m.Stop(now, slots[i%3])
		}
		slots[i%3], _ = m.Start(now, hosts.Task{Key: int64(i), Work: 1e9}, hosts.Share{Weight: float64(1 + i%7)})
		for _, s := range slots[:min(i+1, 3)] {
			sum += m.Rate(s)
		}
		sum += m.Next()
		*out = m.Advance(now, (*out)[:0])
	}
	return sum
}

// BenchmarkTouch measures one change on a host with about three tasks, followed by reading the
// rates and the next completion. A step of touch makes two changes at one time.
func BenchmarkTouch(b *testing.B) {
	m := sim.New(cpu2())
	var out []hosts.Report
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		m.Reset(cpu2())
		touch(m, &out, 1000)
		n += 2000
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/touch")
	b.ReportMetric(0, "ns/op")
}
