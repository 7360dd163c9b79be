package sim_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bourse/hosts"
	"bourse/hosts/sim"
)

func machine(many int, spec hosts.Spec) *sim.Machine {
	m := new(sim.Machine)
	m.SetMany(many)
	m.Reset(spec)
	return m
}

// TestThreshold checks that a machine goes to virtual time with the task that makes
// them many, and back when fewer than half are left, whether they were stopped or have
// completed; that it starts anew where a weight is too large for it; and that a
// machine that is reset is linear.
func TestThreshold(t *testing.T) {
	t.Parallel()
	one := hosts.Share{Weight: 1}
	m := machine(4, hosts.Spec{CPUs: 1, Speed: 1})
	var slots []hosts.Slot
	for i := range 6 {
		slots = append(slots, mustStart(t, m, 0, int64(i), float64(1+i/3), one))
		if got, want := m.InVirtualTime(), i >= 4; got != want {
			t.Errorf("with %d tasks, in virtual time: %v", i+1, got)
		}
	}
	for i, slot := range slots[:3] {
		m.Stop(0, slot)
		if !m.InVirtualTime() {
			t.Errorf("linear with %d of 4 tasks", 5-i)
		}
	}
	mustStart(t, m, 0, 7, 1, one)
	m.Stop(0, slots[3])
	if out := m.Advance(3, nil); len(out) != 1 || !m.InVirtualTime() || m.Len() != 2 {
		t.Errorf("ended %v; in virtual time with %d of 4: %v", out, m.Len(), m.InVirtualTime())
	}
	if out := m.Advance(5, nil); len(out) != 2 || m.InVirtualTime() {
		t.Errorf("ended %v; in virtual time with none of 4", out)
	}
	for i := range 8 {
		slots = append(slots, mustStart(t, m, 5, int64(i), 1, one))
	}
	m.SetShare(5, slots[len(slots)-1], hosts.Share{Weight: 1e200})
	if m.InVirtualTime() || m.Next() != 6 {
		t.Errorf("Next = %v with a weight of 1e200, want 6, by the linear form", m.Next())
	}
	mustStart(t, m, 5.5, 9, 1, one)
	if m.InVirtualTime() {
		t.Error("in virtual time with a weight of 1e200")
	}
	m.SetShare(5.5, slots[len(slots)-1], one)
	for i, w := range []float64{1e-100, 1e100} {
		if mustStart(t, m, 5.5, int64(10+i), 1, hosts.Share{Weight: w}); !m.InVirtualTime() {
			t.Errorf("linear with a weight of %v", w)
		}
	}
	mustStart(t, m, 5.5, 12, 1, hosts.Share{Weight: 1e-200})
	if m.InVirtualTime() {
		t.Error("in virtual time with a weight of 1e-200")
	}
	m.Reset(cpu2())
	for i := range 5 {
		mustStart(t, m, 0, int64(i), 1, one)
	}
	m.Reset(cpu2())
	if m.InVirtualTime() || m.Len() != 0 || m.Next() != inf {
		t.Error("not idle after Reset")
	}
}

// TestVirtualByHand checks a crowded host of four processors, a task at most one, on
// a case small enough for paper. Of weights 6, 4, 3, 1, 1, 1 and 0 the first three are
// capped, by rounds, and the others have a third of a processor each; when the first
// has gone all but the paused one are capped or, with one more of weight 2, not.
func TestVirtualByHand(t *testing.T) {
	t.Parallel()
	m := machine(sim.Virtual, hosts.Spec{CPUs: 4, Speed: 2, Cap: 1})
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
	// Task 1 has 6 + 1 done by 4, and 5 left at 1 a second; task 6 has 2, and 10 at 2.
	if got := m.Next(); got != 9 {
		t.Errorf("Next = %v, want 9", got)
	}
	got := m.Advance(9, nil)
	if want := []hosts.Report{{Key: 1, At: 9, Done: 12, Exit: hosts.Exit{Slot: slots[1]}}, {Key: 6, At: 9, Done: 12, Exit: hosts.Exit{Slot: slots[6]}}}; !slices.Equal(got, want) {
		t.Errorf("ended %+v, want %+v: a tie, in order of start", got, want)
	}
	check("without them", 0, 1, 1, 1)
}

// TestTies checks that tasks of one instant are reported in order of start, whatever
// their slots and in whichever order virtual time and limits bring them.
func TestTies(t *testing.T) {
	t.Parallel()
	m := machine(sim.Virtual, hosts.Spec{CPUs: 8, Speed: 1, Cap: 1})
	a := mustStart(t, m, 0, 0, 9, hosts.Share{Weight: 1})
	b := mustStart(t, m, 0, 0, 9, hosts.Share{Weight: 1})
	m.Stop(0, a)
	m.Stop(0, b) // their slots are used again, the last first
	want := []int64{}
	for i := range int64(24) {
		s := hosts.Share{Weight: 1, Limit: 0.25}
		work := 1.0
		switch i % 3 {
		case 1:
			s.Limit, work = 0.125, 0.5
		case 2:
			s = hosts.Share{Weight: 1e-3} // not at its limit: it has an eighth of the five that the others leave
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

// TestLateTie checks that tasks are in order of start that end within one float of the
// clock, though the second to end does so only as the first leaves the host to it.
func TestLateTie(t *testing.T) {
	t.Parallel()
	const ulp = 0x1p-42 // of instants from 1024 on
	m := machine(sim.Virtual, hosts.Spec{CPUs: 1, Speed: 1})
	mustStart(t, m, 1024, 0, 4+0.3*ulp, hosts.Share{Weight: 1})
	mustStart(t, m, 1024, 1, 4-0.2*ulp, hosts.Share{Weight: 1})
	got := m.Advance(1032, nil)
	if len(got) != 2 || got[0].Key != 0 || got[1].Key != 1 || got[0].At != 1032 || got[1].At != 1032 {
		t.Errorf("ended %+v, want tasks 0 and 1 at 1032", got)
	}
}

// TestNextCompletes checks that at the instant which Next gives a task completes, though
// rounding may put it a float before or after the one found when it began.
func TestNextCompletes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, many := range []int{sim.Linear, sim.Virtual} {
		before, after := 0, 0
		for i := range 2000 {
			m := machine(many, hosts.Spec{CPUs: 4, Speed: 1, Cap: 1})
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
				t.Fatalf("many %d, case %d: ended %+v, want task 0 at %v", many, i, got, next)
			}
		}
		if before == 0 || after == 0 {
			t.Errorf("many %d: %d instants before, %d after: rounding was not tried", many, before, after)
		}
	}
}

// TestNothingLeft checks that a task without work completes at once and once, though it is
// paused, is changed or resumed at that instant, or is stopped before anybody looks.
func TestNothingLeft(t *testing.T) {
	t.Parallel()
	for _, many := range []int{sim.Linear, sim.Virtual} {
		for _, shares := range [][]hosts.Share{{{}}, {{}, {Limit: 0.5}}, {{}, {Weight: 1}}, {{Weight: 1}, {}}, {{}, {Weight: 1, Limit: 0.5}, {}}, {{Weight: 1}, {Weight: 2}}} {
			m := machine(many, hosts.Spec{CPUs: 1, Speed: 1})
			mustStart(t, m, 0, 0, 9, hosts.Share{Weight: 1})
			slot := mustStart(t, m, 3, 1, 0, shares[0])
			for _, s := range shares[1:] {
				m.SetShare(3, slot, s)
			}
			if got := m.Next(); got != 3 {
				t.Errorf("many %d, %v: Next = %v, want 3", many, shares, got)
			}
			if got := m.Advance(20, nil); len(got) != 2 || got[0].Key != 1 || got[0].At != 3 || got[1].Key != 0 || got[1].At != 9 {
				t.Errorf("many %d, %v: ended %+v, want task 1 at 3 and 0 at 9", many, shares, got)
			}
		}
		full := machine(many, hosts.Spec{CPUs: 1, Speed: 1})
		mustStart(t, full, 0, 0, 9, hosts.Share{Weight: 1e30, Limit: 1})
		mustStart(t, full, 3, 1, 0, hosts.Share{Weight: 1})
		if got := full.Next(); got != 3 {
			t.Errorf("many %d, on a host that is all taken: Next = %v, want 3", many, got)
		}
		m := machine(many, hosts.Spec{CPUs: 1, Speed: 1})
		slot := mustStart(t, m, 0, 0, 0, hosts.Share{})
		m.Stop(0, slot)
		mustStart(t, m, 0, 1, 5, hosts.Share{})
		if got := m.Next(); got != inf {
			t.Errorf("many %d: Next = %v of a paused task, want +Inf", many, got)
		}
	}
}

// TestNoDrift checks that far from the origin, where the clock shows 1e-7 s at best, a task
// has what many others leave that complete in between: all of the host is used.
func TestNoDrift(t *testing.T) {
	t.Parallel()
	const start, span, limit = 1e9, 1.0, 1e-4
	m := machine(sim.Virtual, hosts.Spec{CPUs: 1, Speed: 1})
	rest := mustStart(t, m, start, 0, inf, hosts.Share{Weight: 1})
	others := 0.0
	for i := range int64(3000) {
		work := limit * span * float64(i+1) / 3001
		mustStart(t, m, start, i+1, work, hosts.Share{Weight: 1, Limit: limit})
		others += work
	}
	if got := m.Advance(start+span, nil); len(got) != 3000 {
		t.Fatalf("%d tasks of 3000 ended", len(got))
	}
	if got, want := m.Done(rest), span-others; math.Abs(got-want) > 1e-12 {
		t.Errorf("%v done, want %v: %v off", got, want, got-want)
	}
}

// TestWeightsApart checks that light tasks share the host as ever once others have left
// that were heavier a trillionfold, and heavier than those a trillionfold.
func TestWeightsApart(t *testing.T) {
	t.Parallel()
	m := machine(sim.Virtual, hosts.Spec{CPUs: 1, Speed: 1})
	var slots []hosts.Slot
	for i, w := range []float64{1e-3 / 3, 1e-3 / 3, 1e12 / 3, 1e27} {
		slots = append(slots, mustStart(t, m, 0, int64(i), inf, hosts.Share{Weight: w}))
	}
	m.Stop(1, slots[3])
	if got := m.Rate(slots[2]); !near12(got, 1) {
		t.Errorf("the heaviest left gets %v, want all", got)
	}
	m.Stop(2, slots[2])
	for _, slot := range slots[:2] {
		if got := m.Rate(slot); !near12(got, 0.5) {
			t.Errorf("one of two alike gets %v, want a half", got)
		}
	}
}

// TestLongest checks that the most work that is not endless takes its time, at a limit
// and below it.
func TestLongest(t *testing.T) {
	t.Parallel()
	for _, many := range []int{sim.Linear, sim.Virtual} {
		for _, limit := range []float64{0, 4} {
			m := machine(many, hosts.Spec{CPUs: 4 + limit, Speed: 1, Cap: limit})
			slot := mustStart(t, m, 0, 0, math.MaxFloat64, hosts.Share{Weight: 1})
			if got, want := m.Next(), math.MaxFloat64/4; math.Abs(got/want-1) > 1e-15 {
				t.Errorf("many %d, limit %v: Next = %v, want %v", many, limit, got, want)
			}
			m.Stop(1, slot)
			if got := m.Next(); got != inf {
				t.Errorf("many %d, limit %v: Next = %v of none", many, limit, got)
			}
			mustStart(t, m, 1, 0, math.MaxFloat64, hosts.Share{Weight: 1e-3, Limit: limit / 1e3})
			if got := m.Next(); !(got > 1e300) {
				t.Errorf("many %d, limit %v: Next = %v of a light task, want none so soon", many, limit, got)
			}
			mustStart(t, m, 1, 1, 1, hosts.Share{Weight: 1e3, Limit: 1})
			if got := m.Next(); got != 2 {
				t.Errorf("many %d, limit %v: Next = %v beside a light task, want 2", many, limit, got)
			}
		}
	}
}

// TestVirtualRounding checks what floats would lose: light tasks that work on for long
// while heavier ones come and go keep what they have done and are to do. Weights differ
// by up to 1e27, so that virtual time is based anew, and their sum counted.
func TestVirtualRounding(t *testing.T) {
	t.Parallel()
	const span, medium = math.Pi, math.E * 1e5
	for _, heavy := range []float64{1, 1e6, 1e13, 1e24} {
		m := machine(sim.Virtual, hosts.Spec{CPUs: 1, Speed: 1})
		light := mustStart(t, m, 0, -1, inf, hosts.Share{Weight: 3e-3})
		last := mustStart(t, m, 0, -2, 3000, hosts.Share{Weight: 1e-3})
		done, now := 0.0, 0.0
		for i := range int64(500) {
			// With both, of which the heavy one is endless or not; with the medium one; with none.
			work := inf
			if i%2 > 0 {
				work = 1e3
			}
			a := mustStart(t, m, now, i, inf, hosts.Share{Weight: medium})
			b := mustStart(t, m, now, i, work, hosts.Share{Weight: heavy})
			now += span
			all := heavy + medium + 4e-3
			if r, want := m.Stop(now, b), span*heavy/all; !near12(r.Done, want) {
				t.Fatalf("weight %v: %v done, want %v", heavy, r.Done, want)
			}
			now += span
			if r, want := m.Stop(now, a), span*medium/all+span*medium/(medium+4e-3); !near12(r.Done, want) {
				t.Fatalf("weight %v beside %v: %v done, want %v", medium, heavy, r.Done, want)
			}
			now += span
			if got := m.Advance(now, nil); len(got) > 0 {
				t.Fatalf("weight %v: ended %+v", heavy, got)
			}
			done += span*4e-3/all + span*4e-3/(medium+4e-3) + span
		}
		if got, want := m.Done(light), done*3/4; !near12(got, want) {
			t.Errorf("weight %v: %v done, want %v", heavy, got, want)
		}
		if got, want := m.Done(last), done/4; !near12(got, want) {
			t.Errorf("weight %v: %v done, want %v", heavy, got, want)
		}
		if got, want := m.Next(), now+(3000-done/4)*4; !near12(got, want) {
			t.Errorf("weight %v: Next = %v, want %v", heavy, got, want)
		}
	}
}

// near12 allows for the rounding of a thousand sums.
func near12(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) }

// TestVirtualRoom checks that what tasks hold is taken and given back whole in virtual
// time, also by those that came before it and leave after.
func TestVirtualRoom(t *testing.T) {
	t.Parallel()
	spec := hosts.Spec{CPUs: 1, Speed: 1, Room: hosts.Resources{Memory: 1.05, Disk: 2, Bandwidth: 3.3}}
	m := machine(4, spec)
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
	if got := len(m.Advance(70, nil)); got != 9 || m.InVirtualTime() {
		t.Fatalf("%d tasks ended, want 9", got)
	}
	if m.Room() != spec.Room {
		t.Errorf("Room = %+v, want %+v", m.Room(), spec.Room)
	}
}

// TestVirtualAllocations checks that a machine in virtual time that has seen its tasks
// before allocates nothing.
func TestVirtualAllocations(t *testing.T) {
	m := new(sim.Machine)
	m.SetMany(sim.Virtual)
	out := make([]hosts.Report, 0, 8)
	if got := testing.AllocsPerRun(10, func() {
		m.Reset(cpu2())
		for i := range 50 {
			m.Start(0, hosts.Task{Key: int64(i), Work: 1e9}, hosts.Share{Weight: float64(i)})
		}
		touch(m, &out, 1000)
	}); got != 0 {
		t.Errorf("%v allocations, want 0", got)
	}
}
