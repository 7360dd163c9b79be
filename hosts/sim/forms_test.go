package sim_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/hosts"
	"bourse/hosts/sim"
)

// A form is one of the machines that TestForms tells the same.
type form struct {
	name  string
	m     sim.Machine
	slots map[int64]hosts.Slot
	out   []hosts.Report
}

func newForm(name string, many int, spec hosts.Spec) *form {
	f := &form{name: name, slots: map[int64]hosts.Slot{}}
	f.m.SetMany(many)
	f.m.Reset(spec)
	return f
}

// TestForms checks that a machine gives the same whether it keeps its tasks linearly,
// in virtual time, or now this and now that as their number crosses a threshold: the
// same reports, instants, work done, rates and room to 1e-9, ties in order of start.
// Tasks start, stop, are paused and change their shares at any instants; weights,
// limits and works are alike or differ a millionfold, or there is none. An instant beyond
// 1e300 s may be never.
func TestForms(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec := hosts.Spec{
			Name:  "a",
			CPUs:  rapid.SampledFrom([]float64{0.75, 1, 2, 16, 3.3}).Draw(t, "cpus"),
			Speed: rapid.SampledFrom([]float64{1, 2.5}).Draw(t, "speed"),
			Cap:   rapid.SampledFrom([]float64{0, 0.25, 1}).Draw(t, "cap"),
			Room:  hosts.Resources{Memory: 1000, Disk: 0.7, Bandwidth: 3},
		}
		forms := []*form{
			newForm("linear", sim.Linear, spec), newForm("virtual", sim.Virtual, spec), newForm("either", 6, spec),
		}
		weights := rapid.OneOf(rapid.SampledFrom([]float64{0, 1, 1, 2, 3}), rapid.Float64Range(1e-3, 1e3), rapid.SampledFrom([]float64{1e-6, 1e6}))
		limits := rapid.OneOf(rapid.Just(0.0), rapid.SampledFrom([]float64{0.125, 0.5, 4, math.MaxFloat64}), rapid.Float64Range(0.01, 2))
		works := rapid.OneOf(rapid.SampledFrom([]float64{0, 1, 1, 4, math.MaxFloat64, math.Inf(1)}), rapid.Float64Range(0.01, 50))
		if rapid.Bool().Draw(t, "unlimited") {
			limits = rapid.Just(0.0)
		}
		holds := rapid.OneOf(rapid.Just(hosts.Resources{}), rapid.Just(hosts.Resources{Memory: 0.1, Disk: 0.01}), rapid.Just(hosts.Resources{Bandwidth: 0.3}))
		burst := rapid.SampledFrom([]int{1, 1, 12}).Draw(t, "burst")

		var running []int64 // in order of start
		now, key := 0.0, int64(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			// Never just at a completion: rounding decides on which side that is.
			now += rapid.SampledFrom([]float64{0, 0, 1, 7, 100}).Draw(t, "span") * (1/math.E + rapid.Float64Range(0, 0.1).Draw(t, "more"))
			if rapid.IntRange(0, 3).Draw(t, "until next") == 0 {
				if next := forms[0].m.Next(); next < 1e6 {
					now = max(now, next+1e-6*(1+next))
				}
			}
			for _, f := range forms {
				f.out = f.m.Advance(now, f.out[:0])
				for _, r := range f.out {
					delete(f.slots, r.Key)
				}
			}
			for _, f := range forms[1:] {
				sameReports(t, f.name, f.out, forms[0].out)
			}
			for _, r := range forms[0].out {
				i := slices.Index(running, r.Key)
				running = slices.Delete(running, i, i+1)
			}
			switch what := rapid.IntRange(0, 5).Draw(t, "what"); {
			case what == 0 && len(running) > 0:
				i := rapid.IntRange(0, len(running)-1).Draw(t, "stop")
				k := running[i]
				running = slices.Delete(running, i, i+1)
				var reports []hosts.Report
				for _, f := range forms {
					reports = append(reports, f.m.Stop(now, f.slots[k]))
					delete(f.slots, k)
				}
				for i, f := range forms[1:] {
					sameReports(t, f.name, reports[i+1:i+2], reports[:1])
				}
			case what <= 2 && len(running) > 0:
				k := rapid.SampledFrom(running).Draw(t, "change")
				s := hosts.Share{Weight: weights.Draw(t, "weight"), Limit: limits.Draw(t, "limit")}
				for _, f := range forms {
					f.m.SetShare(now, f.slots[k], s)
				}
			default:
				for range burst {
					key++
					task := hosts.Task{Key: key, Work: works.Draw(t, "work"), Holds: holds.Draw(t, "holds")}
					s := hosts.Share{Weight: weights.Draw(t, "weight"), Limit: limits.Draw(t, "limit")}
					started := 0
					for _, f := range forms {
						if slot, err := f.m.Start(now, task, s); err == nil {
							f.slots[key] = slot
							started++
						}
					}
					if started%len(forms) != 0 {
						t.Fatalf("task %d that holds %+v starts on %d of %d", key, task.Holds, started, len(forms))
					} else if started > 0 {
						running = append(running, key)
					}
				}
			}
			for _, f := range forms[1:] {
				sameState(t, now, f, forms[0], running)
			}
		}
		if forms[0].m.InVirtualTime() || len(running) > 0 && !forms[1].m.InVirtualTime() {
			t.Fatal("a form was not the one that it was to be")
		}
	})
}

// sameReports checks that the same tasks ended at the same instants, in the same order
// but for those that ended within rounding of each other. Virtual time has a rest that
// its instants do not show, so it must look at what it shows to keep ties in order.
func sameReports(t *rapid.T, name string, got, want []hosts.Report) {
	if len(got) != len(want) {
		t.Fatalf("%s: ended %+v, want %+v", name, got, want)
	}
	for i, g := range got {
		j := slices.IndexFunc(want, func(w hosts.Report) bool { return w.Key == g.Key })
		if j < 0 || !close9(g.At, want[j].At) || !close9(g.Done, want[j].Done) || !close9(g.At, want[i].At) {
			t.Fatalf("%s: ended %+v, want %+v", name, got, want)
		}
		if i > 0 && (g.At < got[i-1].At || name == "virtual" && g.At == got[i-1].At && g.Key < got[i-1].Key) {
			t.Fatalf("%s: ended %+v, not in order", name, got)
		}
	}
}

// sameState checks what the machines say of now.
func sameState(t *rapid.T, now float64, f, want *form, running []int64) {
	m, w := &f.m, &want.m
	if m.Len() != len(running) || w.Len() != len(running) {
		t.Fatalf("%s: %d tasks, linear %d, want %d", f.name, m.Len(), w.Len(), len(running))
	}
	if got, want := m.Next(), w.Next(); !close9(got, want) && !(min(got, want) > 1e300) {
		t.Fatalf("%s at %v: Next = %v, want %v", f.name, now, got, want)
	}
	got, processors := slices.Clone(m.Processors()), w.Processors()
	if len(got) != len(running) {
		t.Fatalf("%s: %d tasks have processors, want %d", f.name, len(got), len(running))
	}
	for i, k := range running {
		slot := f.slots[k]
		if !close9(got[i], processors[i]) {
			t.Fatalf("%s at %v: task %d gets %v, want %v", f.name, now, k, got[i], processors[i])
		}
		if rate := m.Rate(slot); !close9(rate, got[i]*m.Spec().Speed) {
			t.Fatalf("%s: task %d has rate %v, in order of start %v", f.name, k, rate, got[i])
		}
		if got, want := m.Done(slot), w.Done(want.slots[k]); !close9(got, want) {
			t.Fatalf("%s at %v: task %d has done %v, want %v", f.name, now, k, got, want)
		}
	}
	a, b := m.Room(), w.Room()
	if !close9(a.Memory, b.Memory) || !close9(a.Disk, b.Disk) || !close9(a.Bandwidth, b.Bandwidth) {
		t.Fatalf("%s: room %+v, want %+v", f.name, a, b)
	}
}

// close9 reports whether two numbers are the same to 1e-9, the promise.
func close9(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-9*(1+max(math.Abs(a), math.Abs(b)))
}
