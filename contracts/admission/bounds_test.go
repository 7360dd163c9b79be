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

// TestSurelyLoses checks, by hand, where a host is known to return less with a task
// before it is planned (SLA, Algorithm 2). A host of one processor has a soft task on
// top that needs a half, and one below it that needs 0.4 of 40 s, or as much hard. A
// task that needs a half makes 0.4 too much. Of soft ones, 0.5 of 0.9 are left, so each
// ends 0.4/0.5 of its span late, and pays 40/50 of its penalty a second and span.
func TestSurelyLoses(t *testing.T) {
	t.Parallel()
	const penalty = 0.5 // $/s
	lost := (penalty * 40 / 16 / 40) * 0.4 / 0.5
	for _, c := range []struct {
		name string
		hard bool    // the one below the top
		also bool    // the task that comes is hard
		need float64 // of the task that comes
		gain float64 // what it returns if it is in time, of what is lost
		want bool
	}{
		{"it brings less", false, false, 0.5, 0.99, true},
		{"it brings more", false, false, 0.5, 1.01, false},
		{"nobody pays for delay", true, false, 0.5, 0, false},
		{"all that must be in time do not fit", true, true, 0.5, 9, true},
		{"all that must be in time fit", true, true, 0.1, 0, false},
		{"it fits", false, false, 0.1, 0, false},
	} {
		v := &still{specs: []hosts.Spec{{CPUs: 1, Speed: 1}}, on: make([][]contracts.Allocation, 1)}
		v.add(0, goldenTask{Left: 20, Span: 40, Runtime: 20, Deadline: 40, Budget: 1e4})
		v.add(0, goldenTask{Left: 16, Span: 40, Runtime: 16, Deadline: 40, Budget: 1, Penalty: penalty, Hard: c.hard})
		for i := range v.on[0] { // each goes on with what it needs
			v.on[0][i].Rate = v.contracts[i].Work / 40
		}
		p := &returns{SLAOptions: sharing.DefaultSLA()}
		p.see(v)
		r := contracts.Request{Work: 40 * c.need, SLA: contracts.SLA{Deadline: 40, Soft: !c.also}}
		p.face(&r, &v.specs[0])
		p.offer.Budget = c.gain * lost * r.Work * 40
		a := p.arrives(&p.hosts[0])
		if got := p.loses(0, &p.hosts[0], &a); got != c.want {
			t.Errorf("%s: surely loses %v, want %v", c.name, got, c.want)
		}
	}
}
