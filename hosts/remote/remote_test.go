package remote_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"bourse/hosts"
	"bourse/hosts/remote"
	"bourse/hosts/remote/remotetest"
)

// two returns a machine of 2 processors of speed 3 with tasks of the given work, each of weight
// 1, with names 1, 2 and so on.
func two(work ...float64) *remote.Machine {
	m := remote.New(hosts.Spec{Name: "far", CPUs: 2, Speed: 3, Room: hosts.Resources{Memory: 10}})
	for i, w := range work {
		if _, err := m.Start(0, hosts.Task{Key: int64(10 + i), Work: w, Holds: hosts.Resources{Memory: 4}}, hosts.Share{Weight: 1}); err != nil {
			panic(err)
		}
	}
	return m
}

// orders allocates pending changes of m and returns its orders.
func orders(m *remote.Machine, now float64) remote.Orders {
	m.Deal()
	return m.Orders(now, nil)
}

// said returns a report of a session. The first span has the number first. Each span has a
// length of 10 s and allocation number 1. The values of used are the total usage of task 1 at
// the end of each span.
func said(session, first int64, used ...float64) *remote.Told {
	t := &remote.Told{Session: session, First: first}
	for _, u := range used {
		t.Spans = append(t.Spans, remote.Span{Deal: 1, Length: 10, Used: []remote.Used{{Name: 1, Seconds: u}}})
	}
	return t
}

// twin returns the report of another agent with the same numbers.
func twin(t *remote.Told) *remote.Told {
	t.Boot = "another"
	return t
}

// stranger returns the report of an agent that does not know its predecessor.
func stranger(t *remote.Told) *remote.Told {
	t.After = "another"
	return t
}

// at returns the report with its span ending at the given time on the host's clock.
func at(instant float64, t *remote.Told) *remote.Told {
	t.Spans[0].At = instant
	return t
}

// long returns the report with a span of 100 s and twice the possible usage.
func long(t *remote.Told) *remote.Told {
	t.Spans[0].Length, t.Spans[0].Used[0].Seconds = 100, 200
	return t
}

// short returns the report with a span of length 0.
func short(t *remote.Told) *remote.Told {
	t.Spans[0].Length = 0
	return t
}

// TestHear checks how reports are processed: each span counts once, even if it is repeated,
// late or out of order; impossible values are truncated; and an older session is ignored.
func TestHear(t *testing.T) {
	t.Parallel()
	inf, processors := math.Inf(1), 2.0
	all := processors*10*1.02 + 0.02 // processor-seconds in a span, with the tolerance
	type message struct {
		at   float64
		told *remote.Told
	}
	for name, c := range map[string]struct {
		work float64
		all  []message
		done []float64 // work in each usage reading
		cut  int
		deaf bool // whether the machine ignores the last report
	}{
		"spans":                      {inf, []message{{0, said(1, 1)}, {20, said(1, 1, 4, 10)}}, []float64{12, 18}, 0, false},
		"told twice":                 {inf, []message{{0, said(1, 1)}, {20, said(1, 1, 4, 10)}, {20, said(1, 1, 4, 10)}}, []float64{12, 18}, 0, false},
		"more of the same":           {inf, []message{{0, said(1, 1)}, {20, said(1, 1, 4, 10)}, {30, said(1, 2, 10, 11)}}, []float64{12, 18, 3}, 0, false},
		"a gap is waited for":        {inf, []message{{0, said(1, 1)}, {30, said(1, 2, 10, 11)}}, nil, 0, false},
		"it falls":                   {inf, []message{{0, said(1, 1)}, {20, said(1, 1, 4, 3)}}, []float64{12}, 1, false},
		"it falls and rises":         {inf, []message{{0, said(1, 1)}, {30, said(1, 1, 4, 3, 5)}}, []float64{12, 3}, 1, false},
		"more than processors":       {inf, []message{{0, said(1, 1)}, {10, said(1, 1, 50)}}, []float64{3 * (2*10*1.02 + 0.02)}, 1, false},
		"no number":                  {inf, []message{{0, said(1, 1)}, {10, said(1, 1, math.NaN())}}, nil, 1, false},
		"longer than there was":      {inf, []message{{0, said(1, 1)}, {4, said(1, 1, 10)}}, []float64{3 * (2*(4*1.0005+0.02)*1.02 + 0.02)}, 2, false},
		"no more than it wants":      {15, []message{{0, said(1, 1)}, {20, said(1, 1, 4, 10)}}, []float64{12, 3}, 0, false},
		"another session":            {inf, []message{{0, said(1, 1)}, {10, said(1, 1, 4)}, {20, said(2, 1, 10)}}, []float64{12, 18}, 0, false},
		"one that overlaps":          {inf, []message{{0, said(1, 1)}, {10, at(100, said(1, 1, 4))}, {15, at(105, said(2, 1, 9))}}, []float64{12, 15}, 0, false},
		"and says so not":            {inf, []message{{0, said(1, 1)}, {10, said(1, 1, 4)}, {15, said(2, 1, 9)}}, []float64{12, 15}, 1, false},
		"one after another":          {inf, []message{{0, said(1, 1)}, {10, at(100, said(1, 1, 4))}, {20, at(110, said(2, 1, 10))}}, []float64{12, 18}, 0, false},
		"after a long silence":       {inf, []message{{0, said(1, 1)}, {1000, said(1, 1)}, {1005, long(said(1, 1, 70))}}, []float64{3 * (2*(35*1.0005+0.02)*1.02 + 0.02)}, 2, false},
		"its twin":                   {inf, []message{{0, said(1, 1)}, {20, twin(said(1, 1, 4, 10))}}, nil, 0, true},
		"a stranger":                 {inf, []message{{0, said(1, 1)}, {10, said(1, 1, 4)}, {20, stranger(said(2, 1, 10))}}, []float64{12}, 0, true},
		"whomever the first follows": {inf, []message{{0, stranger(said(1, 1))}, {20, said(1, 1, 4, 10)}}, []float64{12, 18}, 0, false},
		"idle":                       {inf, []message{{0, said(1, 1)}, {20, said(1, 1, 4, 4)}}, []float64{12}, 0, false},
		"all that there can be":      {inf, []message{{0, said(1, 1)}, {20, said(1, 1, all)}}, []float64{3 * all}, 0, false},
		"in no time":                 {inf, []message{{0, said(1, 1)}, {20, short(said(1, 1, 0.01))}}, nil, 0, false},
		"an older one":               {inf, []message{{0, said(2, 1)}, {10, said(2, 1, 4)}, {20, said(1, 2, 10)}}, []float64{12}, 0, true},
	} {
		m := two(c.work)
		m.Deal()
		var ok bool
		for _, a := range c.all {
			_, ok = m.Hear(a.at, a.told)
		}
		var done []float64
		for _, r := range m.Readings(nil) {
			if r.Work > 0 { // tasks that hold memory have readings of spans in which they are idle
				done = append(done, r.Work)
			}
		}
		if len(done) != len(c.done) || m.Cut() != c.cut || ok == c.deaf {
			t.Errorf("%s: done %v, cut %d, heard %v; want %v, %d, %v", name, done, m.Cut(), ok, c.done, c.cut, !c.deaf)
			continue
		}
		for i := range done {
			if !(math.Abs(done[i]-c.done[i]) <= 1e-9) {
				t.Errorf("%s: done %v, want %v", name, done, c.done)
			}
		}
	}
}

// TestTogether checks that the total usage of tasks is limited by their host, and the usage of
// each task by its own limit.
func TestTogether(t *testing.T) {
	t.Parallel()
	m := two(math.Inf(1), math.Inf(1))
	m.SetShare(0, 1, hosts.Share{Weight: 1, Limit: 0.5})
	m.Deal()
	m.Hear(0, said(1, 1))
	told := said(1, 1, 18)
	told.Spans[0].Used = append(told.Spans[0].Used, remote.Used{Name: 2, Seconds: 8}, remote.Used{Name: 7, Seconds: 5})
	m.Hear(10, told)
	got := m.Readings(nil)
	if len(got) != 2 || got[0].Work != 54 || math.Abs(got[1].Work-3*(20*1.02+0.02-18)) > 1e-9 || m.Cut() != 1 {
		t.Errorf("%+v, cut %d", got, m.Cut())
	}
}

// TestEnds checks that an end is reported once, and its name acknowledged for each report; that
// the task's reserved resources are released; and that the work of a task stopped by the market
// is the work in the readings.
func TestEnds(t *testing.T) {
	t.Parallel()
	m := two(math.Inf(1), math.Inf(1))
	if _, err := m.Start(0, hosts.Task{Holds: hosts.Resources{Memory: 4}}, hosts.Share{Weight: 1}); err == nil {
		t.Error("a task was started that does not fit")
	}
	m.Hear(0, said(1, 1))
	told := said(1, 1, 4)
	told.Ends = []remote.End{{Name: 1, Why: hosts.Exited, Code: 3}, {Name: 9, Why: hosts.Lost}}
	for range 2 {
		if known, _ := m.Hear(10, told); fmt.Sprint(known) != "[1 9]" {
			t.Errorf("known are %v", known)
		}
	}
	if o := orders(m, 10); len(o.Wanted) != 1 || o.Wanted[0].Name != 2 {
		t.Errorf("wanted is %+v", o.Wanted)
	}
	if m.Next() != 10 {
		t.Errorf("the next end is at %v", m.Next())
	}
	got := m.Advance(10, nil)
	if len(got) != 1 || got[0] != (hosts.Report{Key: 10, At: 10, Done: 12, Exit: hosts.Exit{Slot: 0, Why: hosts.Exited, Code: 3}}) {
		t.Errorf("ended: %+v", got)
	}
	if m.Hear(10, told); len(m.Advance(10, nil)) > 0 || !math.IsInf(m.Next(), 1) {
		t.Error("an end was reported twice")
	}
	if r := m.Stop(11, 1); r.Done != 0 || r.Key != 11 || m.Room().Memory != 10 {
		t.Errorf("stopped: %+v, with room for %v", r, m.Room())
	}
	if o := orders(m, 11); len(o.Wanted) != 0 {
		t.Errorf("wanted is %+v", o.Wanted)
	}
}

// TestAgain checks that a task that runs again keeps its work and its share under a new name, and
// that the broker does not learn of the end.
func TestAgain(t *testing.T) {
	t.Parallel()
	m := two(math.Inf(1), math.Inf(1))
	m.Deal()
	m.Hear(0, said(1, 1))
	told := said(1, 1, 4)
	told.Ends = []remote.End{{Name: 1, Why: hosts.Failed, Code: 75}}
	m.Hear(10, told)
	m.Again(1)
	m.Again(9)
	if got := m.Advance(10, nil); len(got) > 0 || !math.IsInf(m.Next(), 1) {
		t.Errorf("ended: %+v, next at %v", got, m.Next())
	}
	if o := orders(m, 10); len(o.Wanted) != 2 || o.Wanted[0].Name != 3 || o.Wanted[1].Name != 2 {
		t.Errorf("wanted is %+v", o.Wanted)
	}
	again := said(1, 2, 2)
	again.Spans[0].Used[0].Name = 3 // the usage of a task counts from its own start
	if m.Hear(20, again); fmt.Sprint(m.Readings(nil)) != fmt.Sprint([]hosts.Reading{
		{Slot: 0, Deal: 1, Span: 10, Work: 12}, {Slot: 1, Deal: 1, Span: 10}, // it holds memory, and uses no processor
		{Slot: 0, Deal: 1, Span: 10, Work: 6}, {Slot: 1, Deal: 1, Span: 10},
	}) {
		t.Error("its readings are others")
	}
	if work, ok := m.Unsaved(3, 0.5); work != 4.5 || !ok {
		t.Errorf("%v, %v has been done since, want 4.5", work, ok)
	}
	if work, ok := m.Unsaved(1, 0); ok {
		t.Errorf("a task that is not wanted any more has done %v", work)
	}
	if r := m.Stop(21, 0); r.Done != 18 {
		t.Errorf("%v is done, want 18", r.Done)
	}
}

// TestStop checks the case in which the market stops a task after the machine received its end
// but before the machine reported it. The task ends as received, no other task changes, and
// only readings of the stopped task are dropped.
func TestStop(t *testing.T) {
	t.Parallel()
	m := two(math.Inf(1), math.Inf(1))
	m.Deal()
	m.Hear(0, said(1, 1))
	told := said(1, 1, 4)
	told.Spans[0].Used = append(told.Spans[0].Used, remote.Used{Name: 2, Seconds: 5})
	told.Ends = []remote.End{{Name: 1, Why: hosts.Exited, Code: 3}, {Name: 2, Why: hosts.Lost}}
	m.Hear(10, told)
	if got, want := m.Stop(11, 0), (hosts.Report{Key: 10, At: 10, Done: 12, Exit: hosts.Exit{Slot: 0, Why: hosts.Exited, Code: 3}}); got != want {
		t.Errorf("stopped: %+v, want %+v", got, want)
	}
	if got, want := fmt.Sprint(m.Readings(nil)), fmt.Sprint([]hosts.Reading{{Slot: 1, Deal: 1, Span: 10, Work: 15}}); got != want {
		t.Errorf("read: %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(m.Advance(11, nil)), fmt.Sprint([]hosts.Report{{Key: 11, At: 10, Done: 15, Exit: hosts.Exit{Slot: 1, Why: hosts.Lost}}}); got != want {
		t.Errorf("ended: %s, want %s", got, want)
	}
}

// TestReadings checks that the readings of a span are in order of slots, whatever their order
// in the report.
func TestReadings(t *testing.T) {
	t.Parallel()
	m := remote.New(hosts.Spec{Name: "far", CPUs: 4, Speed: 1})
	told := said(1, 1, 1)
	told.Spans[0].Used = nil
	for _, name := range []int64{3, 1, 4, 2} {
		if _, err := m.Start(0, hosts.Task{Work: math.Inf(1)}, hosts.Share{Weight: 1}); err != nil {
			t.Fatal(err)
		}
		told.Spans[0].Used = append(told.Spans[0].Used, remote.Used{Name: name, Seconds: float64(name)})
	}
	m.Deal()
	m.Hear(0, said(1, 1))
	m.Hear(10, told)
	got := m.Readings(nil)
	for i, r := range got {
		if r.Slot != hosts.Slot(i) || r.Work != float64(i+1) {
			t.Errorf("reading %d of %d: %+v", i, len(got), r)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d readings, want 4", len(got))
	}
}

// TestEntitled checks that a task's rate is the work per second of its share of the processors,
// and that a task is wanted until its stop time. After that time, the orders contain a tiny
// remaining time, because 0 would mean no limit.
func TestEntitled(t *testing.T) {
	t.Parallel()
	m := remote.New(hosts.Spec{Name: "far", CPUs: 2, Speed: 3})
	for _, task := range []struct{ weight, until float64 }{{1, 100}, {3, 0}} {
		if _, err := m.Start(0, hosts.Task{Work: math.Inf(1), Until: task.until}, hosts.Share{Weight: task.weight}); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := m.Rate(0), m.Rate(1); math.Abs(a-1.5) > 1e-12 || math.Abs(b-4.5) > 1e-12 {
		t.Errorf("rates %v and %v", a, b)
	}
	for _, c := range []struct{ now, want float64 }{{0, 100}, {70, 30}, {100, math.SmallestNonzeroFloat64}, {170, math.SmallestNonzeroFloat64}} {
		if o := orders(m, c.now); o.Wanted[0].Left != c.want || o.Wanted[1].Left != 0 {
			t.Errorf("at %v %v and %v s are left, want %v and none said", c.now, o.Wanted[0].Left, o.Wanted[1].Left, c.want)
		}
	}
}

// TestToldAgain checks that repeated reports count once: no additional usage is read, and
// nothing is truncated.
func TestToldAgain(t *testing.T) {
	t.Parallel()
	spec := hosts.Spec{Name: "far", CPUs: 2, Speed: 1}
	for _, times := range []int{1, 2, 9} {
		m, a := remote.New(spec), remotetest.New(spec)
		m.Hear(0, a.Tell(0))
		if _, err := m.Start(0, hosts.Task{Key: 1, Work: math.Inf(1)}, hosts.Share{Weight: 1}); err != nil {
			t.Fatal(err)
		}
		m.Deal()
		o := m.Orders(0, nil)
		a.Obey(0, &o)
		done := 0.0
		for now := 10.0; now <= 30; now += 10 {
			told := a.Tell(now)
			for range times {
				m.Hear(now, told)
			}
			for _, r := range m.Readings(nil) {
				done += r.Work
			}
		}
		if !(math.Abs(done-60) <= 1e-9) || m.Cut() > 0 {
			t.Errorf("told %d times: %v done, want 60; %d readings cut", times, done, m.Cut())
		}
	}
}

// TestOnce checks, with lost, repeated and late messages, restarted agents and vanishing tasks,
// that each task starts once and each end is reported once. The usage read of a task must equal
// the work that it did until its end was received or the market stopped it.
func TestOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		spec := hosts.Spec{Name: "far", CPUs: 2, Speed: 1}
		m, a := remote.New(spec), remotetest.New(spec)
		now, next := 0.0, int64(0)
		var late []*remote.Told
		done, ended := map[int64]float64{}, map[int64]int{}
		slots := map[hosts.Slot]int64{}
		read := func() {
			for _, r := range m.Readings(nil) {
				done[slots[r.Slot]] += r.Work
			}
			for _, r := range m.Advance(now, nil) {
				if ended[r.Key]++; r.Key != slots[r.Slot] || math.Abs(r.Done-done[r.Key]) > 1e-9 {
					t.Fatalf("seed %d: ended %+v, slot of %d, %v read", seed, r, slots[r.Slot], done[r.Key])
				}
				delete(slots, r.Slot)
			}
		}
		for range 200 {
			now += rng.ExpFloat64()
			switch rng.IntN(8) {
			case 0:
				task := hosts.Task{Key: next, Work: math.Inf(1), Until: now + 20*rng.Float64()}
				if rng.IntN(2) == 0 {
					task.Work, task.Until = 5*rng.Float64(), 0
				}
				slot, err := m.Start(now, task, hosts.Share{Weight: 1 + rng.Float64()})
				if err != nil {
					t.Fatal(err)
				}
				slots[slot] = next
				next++
			case 1:
				a.Restart()
			case 2:
				late = append(late, a.Tell(now))
			case 3:
				if n := len(late); n > 0 {
					m.Hear(now, late[rng.IntN(n)])
					read()
				}
			case 4:
				for slot := range slots {
					m.Stop(now, slot)
					delete(slots, slot)
					break
				}
			case 5:
				if rng.IntN(4) == 0 {
					a.Lose(now)
				}
			default:
				known, ok := m.Hear(now, a.Tell(now))
				read()
				if ok && rng.IntN(3) > 0 {
					m.Deal()
					o := m.Orders(now, known)
					a.Obey(now, &o)
				}
			}
		}
		for key, n := range ended {
			if n != 1 {
				t.Errorf("seed %d: task %d ended %d times", seed, key, n)
			}
		}
	}
}
