package admission

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// TestBounds checks what a demand knows of a host, against the formula: until the
// instant that it names, the tasks there need at least its bound, and at most a 32nd of
// the host more; a host has one deadline if all tasks have; and it is ruled out for whom
// the bound leaves no room.
func TestBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]float64{1, 4}).Draw(t, "size")
		v := &still{specs: []hosts.Spec{{CPUs: size, Speed: 2}}, on: make([][]contracts.Allocation, 1)}
		now, same := 10.0, true
		for i := range rapid.IntRange(1, 4).Draw(t, "tasks") {
			due := now + rapid.SampledFrom([]float64{5, 40, 100}).Draw(t, "span")
			c := contracts.Contract{Request: contracts.Request{Work: rapid.Float64Range(1, 80).Draw(t, "work"), SLA: contracts.SLA{Deadline: due}}}
			v.contracts = append(v.contracts, c)
			v.on[0] = append(v.on[0], contracts.Allocation{
				Contract: int32(i), At: 4, Rate: rapid.Float64Range(0, 2).Draw(t, "rate"), Need: rapid.Float64Range(0, 1).Draw(t, "kept"),
			})
			same = same && due == v.contracts[0].Due()
		}
		need := func(at float64) (sum float64) {
			for i := range v.on[0] {
				sum += sharing.RequiredBy(at, &v.on[0][i], &v.contracts[i], 2)
			}
			return sum
		}
		var d demand
		d.see(v)
		b := &d.hosts[0]
		r := contracts.Request{Submit: now, Work: rapid.Float64Range(1, 40).Draw(t, "more"), SLA: contracts.SLA{Deadline: 20}}
		ruledOut := d.exceeds(now, &r, v, 0)
		if want := b.least > size-r.Work/2/20+sliver; ruledOut != want {
			t.Fatalf("%v needed of %v, %v more: ruled out %v, want %v", b.least, size, r.Work/2/20, ruledOut, want)
		}
		if same != (b.due == v.contracts[0].Due()) || !same != math.IsNaN(b.due) {
			t.Fatalf("due at %v, all at the same instant: %v", b.due, same)
		}
		if b.until <= now {
			t.Fatalf("known from %v until %v", now, b.until)
		}
		for k := range 11 {
			at := now + (b.until-now)*float64(k)/10*(1-1e-9)
			if n := need(at); n < b.least || n > b.least+size/32*(1+1e-6)+2*sliver {
				t.Fatalf("at %v, until %v: %v, want %v to %v", at, b.until, n, b.least, b.least+size/32)
			}
		}
	})
}

// moving is a market at a stand whose hosts have all changed.
type moving struct{ *still }

func (m moving) Changed() (all []hosts.ID) {
	for h := range m.specs {
		all = append(all, hosts.ID(h))
	}
	return all
}

// TestBoundByHand checks what is known of a host with one task of 10 s that is due in
// 20 s and stands still. It needs 0.5, and by the first slope, 0.5/20, a 32nd more in
// 1.25 s; that would be 10/18.75 - 0.5, a 30th more, so the bound holds for 30/32 of it.
// Of a host that has changed nothing is known any more.
func TestBoundByHand(t *testing.T) {
	t.Parallel()
	v := &still{specs: []hosts.Spec{{CPUs: 1, Speed: 1}}, on: make([][]contracts.Allocation, 1)}
	var d demand
	look := func() *bound {
		d.see(moving{v})
		d.exceeds(0, &contracts.Request{Work: 1, SLA: contracts.SLA{Deadline: 1e3}}, v, 0)
		return &d.hosts[0]
	}
	if b := look(); !math.IsInf(b.least, -1) || !math.IsInf(b.until, 1) {
		t.Errorf("idle: at least %v until %v", b.least, b.until)
	}
	v.add(0, goldenTask{Left: 10, Span: 20})
	if b := look(); !close(b.least, 0.5-sliver) || !close(b.until, 1.25*30/32) || b.due != 20 {
		t.Errorf("one task: at least %v until %v, due %v", b.least, b.until, b.due)
	}
	v.add(0, goldenTask{Left: 1, Span: sharing.Tick})
	if b := look(); !math.IsInf(b.least, 1) {
		t.Errorf("past a deadline: at least %v", b.least)
	}
}

// TestRuledOut checks that a host is ruled out whose tasks and the new one need more than
// a sliver above what it has.
func TestRuledOut(t *testing.T) {
	t.Parallel()
	for least, want := range map[float64]bool{0: false, 0.5: false, 0.5 + sliver: false, 0.5 + 1.1*sliver: true, 0.6: true} {
		d := demand{hosts: []bound{{Node: one, speed: 1, least: least, until: math.Inf(1)}}}
		if got := d.exceeds(0, &contracts.Request{Work: 5, SLA: contracts.SLA{Deadline: 10}}, nil, 0); got != want {
			t.Errorf("%v needed, and 0.5: ruled out %v, want %v", least, got, want)
		}
	}
}

// TestCourse checks what a task will need: of 10 s left, of which 0.25 go by each
// second, 6 are left at 16, 4 s before its deadline; once the estimate is used up it
// needs what it kept. The formula stays the same until then, or until the deadline.
func TestCourse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                string
		x                   course
		need, slope, steady float64 // after 16 s; at first
	}{
		{"behind", course{10, 20, 0.25, 9}, 6. / 4, (0.5 - 0.25) / 20, 20 - sharing.Tick},
		{"in time", course{10, 20, 0.5, 9}, 0.5, 0, (10 - sharing.Tick) / 0.5},
		{"ahead", course{10, 20, 0.625, 9}, 0, (0.5 - 0.625) / 20, (10 - sharing.Tick) / 0.625},
		{"used up", course{0, 20, 0.5, 9}, 9, 0, 20 - sharing.Tick},
		{"used up but for a tick", course{sharing.Tick, 20, 0.5, 9}, 9, 0, 20 - sharing.Tick},
	} {
		if c.x.need(16) != c.need || c.x.slope() != c.slope || c.x.steady() != c.steady {
			t.Errorf("%s: needs %v after 16 s, grows by %v, steady for %v s; want %v, %v, %v",
				c.name, c.x.need(16), c.x.slope(), c.x.steady(), c.need, c.slope, c.steady)
		}
	}
}
