package sim_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/hosts"
	"bourse/hosts/sim"
)

var inf = math.Inf(1)

func cpu2() hosts.Spec { return hosts.Spec{Name: "a", CPUs: 2, Speed: 1, Cap: 1} }

func mustStart(t testing.TB, m *sim.Machine, now float64, key int64, work float64, s hosts.Share) hosts.Slot {
	t.Helper()
	slot, err := m.Start(now, hosts.Task{Key: key, Work: work}, s)
	if err != nil {
		t.Fatal(err)
	}
	return slot
}

// TestMachineByHand checks a host with two processors, of which a task can use one, on a case
// small enough for paper. The tasks with bids of 6, 1 and 3 receive 1, 1/4 and 3/4 of a
// processor until the first has done its work of 10. From then on, the cap gives one processor
// to each of the others.
func TestMachineByHand(t *testing.T) {
	t.Parallel()
	m := sim.New(cpu2())
	a := mustStart(t, m, 0, 1, 10, hosts.Share{Weight: 6})
	b := mustStart(t, m, 0, 2, 100, hosts.Share{Weight: 1})
	c := mustStart(t, m, 0, 3, 100, hosts.Share{Weight: 3})
	for _, w := range []struct {
		slot hosts.Slot
		rate float64
	}{{a, 1}, {b, 0.25}, {c, 0.75}} {
		if got := m.Rate(w.slot); got != w.rate {
			t.Errorf("Rate(%d) = %v, want %v", w.slot, got, w.rate)
		}
	}
	if got := m.Next(); got != 10 {
		t.Errorf("Next = %v, want 10", got)
	}
	if out := m.Advance(4, nil); len(out) > 0 || m.Done(b) != 1 {
		t.Errorf("Advance = %v with %v done by task 2, want nothing and 1", out, m.Done(b))
	}
	out := m.Advance(20, nil)
	if want := []hosts.Report{{Key: 1, At: 10, Done: 10, Exit: hosts.Exit{Slot: a}}}; !slices.Equal(out, want) {
		t.Errorf("Advance = %v, want %v", out, want)
	}
	if got, want := m.Done(b), 2.5+10; got != want {
		t.Errorf("Done(b) = %v, want %v", got, want)
	}
	if got, want := m.Stop(20, c), (hosts.Report{Key: 3, At: 20, Done: 17.5, Exit: hosts.Exit{Slot: c}}); got != want {
		t.Errorf("Stop(c) = %v, want %v", got, want)
	}
	m.SetShare(20, b, hosts.Share{Weight: 1, Limit: 0.5})
	if got, want := m.Next(), 20+87.5/0.5; got != want {
		t.Errorf("Next = %v, want %v", got, want)
	}
	m.SetShare(30, b, hosts.Share{})
	if got := m.Next(); got != inf {
		t.Errorf("Next of a paused task = %v, want +Inf", got)
	}
}

// TestMachineUnreported checks that a change after an unreported completion is exact: the task
// ends at its own time, the others share the host from then on, and its slot stays in use until
// it is reported.
func TestMachineUnreported(t *testing.T) {
	t.Parallel()
	m := sim.New(hosts.Spec{Name: "a", CPUs: 1, Speed: 2})
	a := mustStart(t, m, 0, 1, 4, hosts.Share{Weight: 1})
	b := mustStart(t, m, 0, 2, 100, hosts.Share{Weight: 1})
	c := mustStart(t, m, 6, 3, 1, hosts.Share{Weight: 1})
	if c == a {
		t.Fatalf("slot %d is used again before its report", a)
	}
	if got, want := m.Done(b), 4.0+4; got != want {
		t.Errorf("Done(b) = %v, want %v", got, want)
	}
	if got := []float64{m.Next(), m.Rate(a), m.Done(a)}; !slices.Equal(got, []float64{4, 0, 4}) {
		t.Errorf("Next, Rate(a), Done(a) = %v, want 4, 0, 4", got)
	}
	m.SetShare(6, a, hosts.Share{Weight: 9})
	if got, want := m.Stop(6.5, a), (hosts.Report{Key: 1, At: 4, Done: 4, Exit: hosts.Exit{Slot: a}}); got != want {
		t.Errorf("Stop(a) = %v, want %v", got, want)
	}
	if out := m.Advance(7, nil); len(out) != 1 || out[0].Key != 3 || out[0].At != 7 {
		t.Errorf("Advance = %v, want task 3 at 7", out)
	}
}

// TestMachineUnreportedBoth checks that each of two completed tasks has its own report, and
// that each report is returned once.
func TestMachineUnreportedBoth(t *testing.T) {
	t.Parallel()
	m := sim.New(hosts.Spec{CPUs: 1, Speed: 1})
	a := mustStart(t, m, 0, 1, 1, hosts.Share{Weight: 1})
	b := mustStart(t, m, 0, 2, 2, hosts.Share{Weight: 1})
	mustStart(t, m, 4, 3, inf, hosts.Share{Weight: 1})
	if m.Done(a) != 1 || m.Done(b) != 2 {
		t.Errorf("Done = %v and %v, want 1 and 2", m.Done(a), m.Done(b))
	}
	if got, want := m.Stop(4, b), (hosts.Report{Key: 2, At: 3, Done: 2, Exit: hosts.Exit{Slot: b}}); got != want {
		t.Errorf("Stop = %v, want %v", got, want)
	}
	if got, want := m.Advance(4, nil), []hosts.Report{{Key: 1, At: 2, Done: 1, Exit: hosts.Exit{Slot: a}}}; !slices.Equal(got, want) {
		t.Errorf("Advance = %v, want %v", got, want)
	}
}

// TestMachineMistakes checks that the machine panics on invalid calls with a message that
// describes the mistake.
func TestMachineMistakes(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		want string
		do   func(*sim.Machine)
	}{
		{"hosts/sim: share {Weight:-1 Limit:0}", func(m *sim.Machine) { m.Start(2, hosts.Task{}, hosts.Share{Weight: -1}) }},
		{"hosts/sim: share {Weight:+Inf Limit:0}", func(m *sim.Machine) { m.Start(2, hosts.Task{}, hosts.Share{Weight: inf}) }},
		{"hosts/sim: share {Weight:NaN Limit:0}", func(m *sim.Machine) { m.SetShare(2, 0, hosts.Share{Weight: math.NaN()}) }},
		{"hosts/sim: share {Weight:1 Limit:-1}", func(m *sim.Machine) { m.SetShare(2, 0, hosts.Share{Weight: 1, Limit: -1}) }},
		{"hosts/sim: share {Weight:1 Limit:NaN}", func(m *sim.Machine) { m.SetShare(2, 0, hosts.Share{Weight: 1, Limit: math.NaN()}) }},
		{"hosts/sim: work is negative or not a number", func(m *sim.Machine) { m.Start(2, hosts.Task{Work: -1}, hosts.Share{}) }},
		{"hosts/sim: work is negative or not a number", func(m *sim.Machine) { m.Start(2, hosts.Task{Work: math.NaN()}, hosts.Share{}) }},
		{"hosts/sim: host a: found time 1 after 2, want a later time", func(m *sim.Machine) { m.Stop(1, 0) }},
		{"hosts/sim: host a: found time NaN after 2, want a later time", func(m *sim.Machine) { m.Stop(math.NaN(), 0) }},
		{"hosts/sim: host a has no task in slot 1", func(m *sim.Machine) { m.Done(1) }},
		{"hosts/sim: host a has no task in slot 0", func(m *sim.Machine) { m.Stop(2, 0); m.Rate(0) }},
	} {
		m := sim.New(cpu2())
		mustStart(t, m, 0, 1, inf, hosts.Share{Weight: 1, Limit: inf})
		m.Advance(2, nil)
		func() {
			defer func() {
				if got := recover(); got != x.want {
					t.Errorf("panics with %v, want %s", got, x.want)
				}
			}()
			x.do(m)
		}()
	}
}

// TestMachineKeepsItsWord checks that a task completes at the time that Next returned, to the
// last bit, however many calls occur in between.
func TestMachineKeepsItsWord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := sim.New(hosts.Spec{CPUs: 1, Speed: rapid.Float64Range(0.3, 3).Draw(t, "speed")})
		now := rapid.Float64Range(0, 1e6).Draw(t, "start")
		works := rapid.SliceOfN(rapid.Float64Range(0, 1000), 1, 5).Draw(t, "works")
		for i, work := range works {
			m.Start(now, hosts.Task{Key: int64(i), Work: work}, hosts.Share{Weight: float64(i + 1)})
		}
		for range works {
			next := m.Next()
			for i := range 9 {
				before := now + (next-now)*float64(i)/10
				if before >= next {
					break
				}
				if got := m.Advance(before, nil); len(got) > 0 {
					t.Fatalf("%+v ended before %v", got, next)
				}
				if got := m.Next(); got != next {
					t.Fatalf("Next = %v, then %v", next, got)
				}
			}
			now = max(now, next)
			for _, r := range m.Advance(now, nil) {
				if r.At != next || r.Done != works[r.Key] {
					t.Fatalf("ended: %+v, want at %v with %v done", r, next, works[r.Key])
				}
			}
			if m.Len() == 0 {
				break
			}
		}
		if m.Len() > 0 {
			t.Fatalf("%d tasks never end", m.Len())
		}
	})
}

// TestReservations checks that memory, disk and bandwidth are reserved from start to end, are
// never overbooked, and are released completely.
func TestReservations(t *testing.T) {
	t.Parallel()
	spec := cpu2()
	spec.Room = hosts.Resources{Memory: 0.3, Disk: 5, Bandwidth: 7}
	m := sim.New(spec)
	var slots []hosts.Slot
	for range 2 {
		slot, err := m.Start(0, hosts.Task{Work: 1, Holds: hosts.Resources{Memory: 0.1}}, hosts.Share{Weight: 1})
		if err != nil {
			t.Fatal(err)
		}
		slots = append(slots, slot)
	}
	for _, h := range []hosts.Resources{{Memory: 0.2}, {Disk: 6}, {Bandwidth: 8}} {
		before := m.Room()
		if _, err := m.Start(0, hosts.Task{Key: 7, Work: 1, Holds: h}, hosts.Share{Weight: 1}); err == nil {
			t.Errorf("a task that holds %+v starts where %+v is left", h, before)
		}
		if m.Room() != before || m.Len() != 2 {
			t.Errorf("a refused task leaves a trace")
		}
	}
	m.Stop(0.5, slots[0])
	m.Advance(1, nil)
	if m.Room() != spec.Room {
		t.Errorf("Room = %+v, want %+v", m.Room(), spec.Room)
	}
}

// A plain is the simplest machine: it has a map of tasks, divides the host by sorted order, and
// searches every completion again.
type plain struct {
	cpus, limit, speed float64
	now                float64
	tasks              map[int64]*plainTask
}

type plainTask struct {
	work, done float64
	share      hosts.Share
}

func (p *plain) rates() map[int64]float64 {
	type item struct {
		key     int64
		w, most float64
	}
	var items []item
	weight := 0.0
	for k, t := range p.tasks {
		most := inf
		if p.limit > 0 {
			most = p.limit
		}
		if t.share.Limit > 0 {
			most = min(most, t.share.Limit)
		}
		if t.share.Weight > 0 {
			items = append(items, item{k, t.share.Weight, most})
			weight += t.share.Weight
		}
	}
	// Tasks reach their limits in order of limit over weight.
	slices.SortFunc(items, func(a, b item) int {
		x, y := a.most/a.w, b.most/b.w
		if x < y {
			return -1
		} else if x > y {
			return 1
		}
		return int(a.key - b.key)
	})
	rates := map[int64]float64{}
	room := p.cpus
	for _, it := range items {
		r := min(it.most, it.w/weight*room)
		rates[it.key] = r * p.speed
		room -= r
		weight -= it.w
	}
	return rates
}

func (p *plain) advance(now float64) (ended []hosts.Report) {
	for {
		rates := p.rates()
		next := inf
		for k, t := range p.tasks {
			if left := t.work - t.done; left <= 1e-9 {
				next = p.now
			} else if rates[k] > 0 {
				next = min(next, p.now+left/rates[k])
			}
		}
		to := min(next, now)
		for k, t := range p.tasks {
			t.done += rates[k] * (to - p.now)
		}
		p.now = to
		if next > now {
			return ended
		}
		for k, t := range p.tasks {
			if t.work-t.done <= 1e-9 {
				ended = append(ended, hosts.Report{Key: k, At: to, Done: t.work})
				delete(p.tasks, k)
			}
		}
	}
}

// TestMachineAgainstPlain checks that starts, stops and share changes at arbitrary times give
// the same work, rates and completions as the plain machine, even in a machine that has been
// used before.
func TestMachineAgainstPlain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec := hosts.Spec{
			Name:  "a",
			CPUs:  rapid.Float64Range(0.5, 4).Draw(t, "cpus"),
			Speed: rapid.Float64Range(0.5, 4).Draw(t, "speed"),
			Cap:   rapid.SampledFrom([]float64{0, 0.3, 1}).Draw(t, "cap"),
		}
		m := sim.New(cpu2())
		m.Start(0, hosts.Task{Work: 3}, hosts.Share{Weight: 1})
		m.Reset(spec)
		p := &plain{cpus: spec.CPUs, limit: spec.Cap, speed: spec.Speed, tasks: map[int64]*plainTask{}}
		slots := map[int64]hosts.Slot{}
		weights := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0.01, 10))
		limits := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0.05, 2))
		share := func() hosts.Share {
			return hosts.Share{Weight: weights.Draw(t, "weight"), Limit: limits.Draw(t, "limit")}
		}
		now := 0.0
		for key := range int64(rapid.IntRange(1, 40).Draw(t, "steps")) {
			now += rapid.SampledFrom([]float64{0, 0, 1.0123, 7.3571}).Draw(t, "span")
			want := p.advance(now)
			keys := sortedKeys(p.tasks)
			switch what := rapid.IntRange(0, 3).Draw(t, "what"); {
			case what == 0 && len(keys) > 0:
				k := rapid.SampledFrom(keys).Draw(t, "stop")
				r := m.Stop(now, slots[k])
				if r.Key != k || r.At != now || !near(r.Done, p.tasks[k].done) {
					t.Fatalf("Stop = %+v, want task %d at %v, done %v", r, k, now, p.tasks[k].done)
				}
				delete(p.tasks, k)
			case what == 1 && len(keys) > 0:
				k := rapid.SampledFrom(keys).Draw(t, "change")
				s := share()
				m.SetShare(now, slots[k], s)
				p.tasks[k].share = s
			default:
				work := rapid.OneOf(rapid.Just(inf), rapid.Float64Range(0.1, 50)).Draw(t, "work")
				s := share()
				slots[key], _ = m.Start(now, hosts.Task{Key: key, Work: work}, s)
				p.tasks[key] = &plainTask{work: work, share: s}
			}
			got := m.Advance(now, nil)
			if !slices.IsSortedFunc(got, func(a, b hosts.Report) int { return cmpFloat(a.At, b.At) }) {
				t.Fatalf("reports are not in order: %+v", got)
			}
			match(t, got, want)
			rates := p.rates()
			started := slices.Sorted(maps.Keys(p.tasks))
			if n := len(m.Processors()); n != len(started) {
				t.Fatalf("%d tasks get processors, want %d", n, len(started))
			}
			for i, k := range started {
				if got := m.Processors()[i] * m.Spec().Speed; got != m.Rate(slots[k]) {
					t.Fatalf("task %d gets %v, in order of start, want its rate %v", k, got, m.Rate(slots[k]))
				}
			}
			for k, task := range p.tasks {
				if got := m.Rate(slots[k]); !near(got, rates[k]) {
					t.Fatalf("rate of task %d = %v, want %v", k, got, rates[k])
				}
				if got := m.Done(slots[k]); !near(got, task.done) {
					t.Fatalf("task %d has done %v, want %v", k, got, task.done)
				}
			}
		}
	})
}

// match checks that two lists of reports contain the same tasks with the same times.
func match(t *rapid.T, got, want []hosts.Report) {
	if len(got) != len(want) {
		t.Fatalf("ended: %+v, want %+v", got, want)
	}
	at := map[int64]float64{}
	for _, w := range want {
		at[w.Key] = w.At
	}
	for _, g := range got {
		if w, ok := at[g.Key]; !ok || !near(g.At, w) {
			t.Fatalf("ended: %+v, want %+v", got, want)
		}
	}
}

func near(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-7*(1+math.Abs(b)) }

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func sortedKeys(m map[int64]*plainTask) []int64 {
	var keys []int64
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// TestUsed checks the sum of amount times seconds: a task that ended, one that was stopped, and one
// that still runs.
func TestUsed(t *testing.T) {
	t.Parallel()
	m := sim.New(hosts.Spec{Name: "h", CPUs: 3, Speed: 1, Cap: 1, Room: hosts.Resources{Memory: 10, Counts: [hosts.MaxCounts]int32{4}}})
	start := func(now, work, memory float64, units int32) hosts.Slot {
		slot, err := m.Start(now, hosts.Task{Work: work, Holds: hosts.Resources{Memory: memory, Counts: [hosts.MaxCounts]int32{units}}}, hosts.Share{Weight: 1})
		if err != nil {
			t.Fatal(err)
		}
		return slot
	}
	start(1, 5, 2, 1) // ends at 6
	stopped := start(2, 50, 3, 0)
	start(4, 50, 1, 2)
	m.Advance(8, nil)
	m.Stop(9, stopped)
	for k, want := range map[hosts.Kind]float64{hosts.Memory: 2*5 + 3*7 + 1*8, hosts.Countable: 1*5 + 2*8, hosts.Disk: 0} {
		if got := m.Used(12, k); got != want {
			t.Errorf("Used(12, %d) = %v, want %v", k, got, want)
		}
	}
	m.Reset(*m.Spec())
	if got := m.Used(12, hosts.Memory); got != 0 {
		t.Errorf("after Reset: Used(12, Memory) = %v, want 0", got)
	}
}
