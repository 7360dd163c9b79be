package sim_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bourse/hosts"
	"bourse/hosts/sim"
)

// TestByHand checks a crowded host with four processors, of which a task can use one, on a case
// small enough for paper. Of the weights 6, 4, 3, 1, 1, 1 and 0, the first three are capped in
// successive rounds, and the others get a third of a processor each. After the first has ended,
// all others except the paused task are capped, unless there is another task of weight 2.
func TestByHand(t *testing.T) {
	t.Parallel()
	m := sim.New(hosts.Spec{CPUs: 4, Speed: 2, Cap: 1})
	var slots []hosts.Slot
	for i, w := range []float64{6, 4, 3, 1, 1, 1, 0} {
		slots = append(slots, mustStart(t, m, 0, int64(i), 12, hosts.Share{Weight: w}))
	}
	third := 1.0 / 3
	check := func(what string, want ...float64) {
		t.Helper()
		if got := m.Processors(); !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }) {
			t.Errorf("%s: processors %v, want %v", what, got, want)
		}
	}
	check("seven tasks", 1, 1, 1, third, third, third, 0)
	if got, want := m.Rate(slots[3]), 2*third; math.Abs(got-want) > 1e-15 {
		t.Errorf("Rate = %v, want %v at speed 2", got, want)
	}
	if got := m.Next(); got != 6 {
		t.Errorf("Next = %v, want 6", got)
	}
	if r := m.Stop(3, slots[0]); r.Done != 6 || r.At != 3 {
		t.Errorf("Stop = %+v, want 6 done at 3", r)
	}
	check("without the heaviest", 1, 1, 2*third, 2*third, 2*third, 0)
	m.SetShare(3, slots[1], hosts.Share{Weight: 4, Limit: 0.5})
	m.SetShare(3, slots[6], hosts.Share{Weight: 2})
	check("one limited further, one resumed", 0.5, 1, 0.5, 0.5, 0.5, 1)
	if got, want := m.Done(slots[3]), 2.0; math.Abs(got-want) > 1e-15 {
		t.Errorf("Done = %v, want %v", got, want)
	}
	m.SetShare(4, slots[2], hosts.Share{})
	check("one paused", 0.5, 0, 2.5/3, 2.5/3, 2.5/3, 1)
	// Task 1 has done 7 by time 4 and has 5 left at 1 per second. Task 6 has done 2 and has 10
	// left at 2 per second.
	if got := m.Next(); got != 9 {
		t.Errorf("Next = %v, want 9", got)
	}
	got := m.Advance(9, nil)
	if want := []hosts.Report{{Key: 1, At: 9, Done: 12, Exit: hosts.Exit{Slot: slots[1]}}, {Key: 6, At: 9, Done: 12, Exit: hosts.Exit{Slot: slots[6]}}}; !slices.Equal(got, want) {
		t.Errorf("ended %+v, want %+v: a tie, in order of start", got, want)
	}
	check("without them", 0, 1, 1, 1)
}

// TestTies checks that tasks that complete at the same time are reported in order of start,
// whatever their slots and the order in which their limits are processed.
func TestTies(t *testing.T) {
	t.Parallel()
	m := sim.New(hosts.Spec{CPUs: 8, Speed: 1, Cap: 1})
	a := mustStart(t, m, 0, 0, 9, hosts.Share{Weight: 1})
	b := mustStart(t, m, 0, 0, 9, hosts.Share{Weight: 1})
	m.Stop(0, a)
	m.Stop(0, b) // the machine reuses the slots, the last vacated one first
	want := []int64{}
	for i := range int64(24) {
		s := hosts.Share{Weight: 1, Limit: 0.25}
		work := 1.0
		switch i % 3 {
		case 1:
			s.Limit, work = 0.125, 0.5
		case 2:
			s = hosts.Share{Weight: 1e-3} // this task is below its limit; it gets an eighth of the five processors that the others leave
			work = 2.5
		}
		mustStart(t, m, 0, i, work, s)
		want = append(want, i)
	}
	var got []int64
	for _, r := range m.Advance(4, nil) {
		if r.At != 4 {
			t.Errorf("task %d ended at %v, want 4", r.Key, r.At)
		}
		got = append(got, r.Key)
	}
	if !slices.Equal(got, want) {
		t.Errorf("ended %v, want %v", got, want)
	}
}

// TestNextCompletes checks that a task completes at the time that Next returns, even if
// rounding moves it by one float from the time computed at its start.
func TestNextCompletes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	before, after := 0, 0
	for i := range 2000 {
		m := sim.New(hosts.Spec{CPUs: 4, Speed: 1, Cap: 1})
		work := 3 + 5*rng.Float64()
		mustStart(t, m, rng.Float64(), 0, work, hosts.Share{Weight: 1})
		first := m.Next()
		mustStart(t, m, 1+rng.Float64(), 1, 100, hosts.Share{Weight: 1})
		next := m.Next()
		switch {
		case next < first:
			before++
		case next > first:
			after++
		}
		if got := m.Advance(next, nil); len(got) != 1 || got[0].Key != 0 || got[0].At != next || got[0].Done != work {
			t.Fatalf("case %d: ended %+v, want task 0 at %v", i, got, next)
		}
	}
	if before == 0 || after == 0 {
		t.Errorf("%d instants before, %d after: rounding was not tried", before, after)
	}
}

// TestNothingLeft checks that a task without work completes immediately and only once. The task
// may be paused, changed or resumed at that time, or stopped before the machine is advanced.
func TestNothingLeft(t *testing.T) {
	t.Parallel()
	for _, shares := range [][]hosts.Share{{{}}, {{}, {Limit: 0.5}}, {{}, {Weight: 1}}, {{Weight: 1}, {}}, {{}, {Weight: 1, Limit: 0.5}, {}}, {{Weight: 1}, {Weight: 2}}} {
		m := sim.New(hosts.Spec{CPUs: 1, Speed: 1})
		mustStart(t, m, 0, 0, 9, hosts.Share{Weight: 1})
		slot := mustStart(t, m, 3, 1, 0, shares[0])
		for _, s := range shares[1:] {
			m.SetShare(3, slot, s)
		}
		if got := m.Next(); got != 3 {
			t.Errorf("%v: Next = %v, want 3", shares, got)
		}
		if got := m.Advance(20, nil); len(got) != 2 || got[0].Key != 1 || got[0].At != 3 || got[1].Key != 0 || got[1].At != 9 {
			t.Errorf("%v: ended %+v, want task 1 at 3 and 0 at 9", shares, got)
		}
	}
	full := sim.New(hosts.Spec{CPUs: 1, Speed: 1})
	mustStart(t, full, 0, 0, 9, hosts.Share{Weight: 1e30, Limit: 1})
	mustStart(t, full, 3, 1, 0, hosts.Share{Weight: 1})
	if got := full.Next(); got != 3 {
		t.Errorf("on a host that is all taken: Next = %v, want 3", got)
	}
	m := sim.New(hosts.Spec{CPUs: 1, Speed: 1})
	slot := mustStart(t, m, 0, 0, 0, hosts.Share{})
	m.Stop(0, slot)
	mustStart(t, m, 0, 1, 5, hosts.Share{})
	if got := m.Next(); got != inf {
		t.Errorf("Next = %v of a paused task, want +Inf", got)
	}
}

// TestLongest checks that the largest finite amount of work takes the correct time, at a limit
// and below it.
func TestLongest(t *testing.T) {
	t.Parallel()
	for _, limit := range []float64{0, 4} {
		m := sim.New(hosts.Spec{CPUs: 4 + limit, Speed: 1, Cap: limit})
		slot := mustStart(t, m, 0, 0, math.MaxFloat64, hosts.Share{Weight: 1})
		if got, want := m.Next(), math.MaxFloat64/4; math.Abs(got/want-1) > 1e-15 {
			t.Errorf("limit %v: Next = %v, want %v", limit, got, want)
		}
		m.Stop(1, slot)
		if got := m.Next(); got != inf {
			t.Errorf("limit %v: Next = %v of none", limit, got)
		}
		mustStart(t, m, 1, 0, math.MaxFloat64, hosts.Share{Weight: 1e-3, Limit: limit / 1e3})
		if got := m.Next(); !(got > 1e300) {
			t.Errorf("limit %v: Next = %v of a light task, want none so soon", limit, got)
		}
		mustStart(t, m, 1, 1, 1, hosts.Share{Weight: 1e3, Limit: 1})
		if got := m.Next(); got != 2 {
			t.Errorf("limit %v: Next = %v beside a light task, want 2", limit, got)
		}
	}
}

// near12 reports whether a and b are equal except for the rounding errors of a thousand sums.
func near12(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) }

// TestRoomOfMany checks that the room of a machine is exact after many tasks have reserved and
// released resources.
func TestRoomOfMany(t *testing.T) {
	t.Parallel()
	spec := hosts.Spec{CPUs: 1, Speed: 1, Room: hosts.Resources{Memory: 1.05, Disk: 2, Bandwidth: 3.3}}
	m := sim.New(spec)
	holds := hosts.Resources{Memory: 0.1, Disk: 0.1, Bandwidth: 0.3}
	var slots []hosts.Slot
	for i := range 10 {
		slot, err := m.Start(0, hosts.Task{Work: float64(1 + i), Holds: holds}, hosts.Share{Weight: 1})
		if err != nil {
			t.Fatalf("task %d: %v", i, err)
		}
		slots = append(slots, slot)
	}
	if _, err := m.Start(0, hosts.Task{Work: 1, Holds: holds}, hosts.Share{Weight: 1}); err == nil || m.Len() != 10 {
		t.Errorf("an eleventh task that holds a tenth of the memory starts: %v, %d tasks", err, m.Len())
	}
	mustStart(t, m, 0, 0, 100, hosts.Share{Weight: 1})
	if got, want := m.Room(), (hosts.Resources{Memory: 0.05, Disk: 1, Bandwidth: 0.3}); !near12(got.Memory, want.Memory) || !near12(got.Disk, want.Disk) || !near12(got.Bandwidth, want.Bandwidth) {
		t.Errorf("Room = %+v, want %+v", got, want)
	}
	m.Stop(0, slots[9])
	if got := len(m.Advance(70, nil)); got != 9 {
		t.Fatalf("%d tasks ended, want 9", got)
	}
	if m.Room() != spec.Room {
		t.Errorf("Room = %+v, want %+v", m.Room(), spec.Room)
	}
}
