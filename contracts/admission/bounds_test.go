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

// TestSurelyLoses checks, by hand, where a host is known to return less with a task
// before it is planned (SLA, Algorithm 2). A host of one processor has a soft task on
// top that needs a half, and one below it that needs 0.4 of 40 s, or as much hard. A
// task that needs a half makes 0.4 too much. Of soft ones, 0.5 of 0.9 are left, so each
// ends 0.4/0.5 of its span late, and pays 40/50 of its penalty a second and span. What
// rounding could make of it is left to the plan: a part of 1e-5, delays too small to
// count, and what the last digits of a great return hide.
func TestSurelyLoses(t *testing.T) {
	t.Parallel()
	const penalty = 0.5                          // $/s
	lost := (penalty * 40 / 16 / 40) * 0.4 / 0.5 // at scale 1; at another as much more as spans are less
	for _, c := range []struct {
		name string
		hard bool    // the one below the top
		also bool    // the task that comes is hard
		need float64 // of the task that comes
		gain float64 // what it returns if it is in time, of what is lost
		want bool

		scale, top float64 // of spans; budget of the task on top, $
		own        bool    // the task that comes pays for delay, too, as much again
	}{
		{"it brings less", false, false, 0.5, 0.99, true, 1, 1e4, false},
		{"it brings more", false, false, 0.5, 1.01, false, 1, 1e4, false},
		{"it brings a little less", false, false, 0.5, 1 - 2e-5, true, 1, 1e4, false},
		{"it brings next to as much", false, false, 0.5, 1 - 0.5e-5, false, 1, 1e4, false},
		{"nobody pays for delay", true, false, 0.5, 0, false, 1, 1e4, false},
		{"all that must be in time do not fit", true, true, 0.5, 9, true, 1, 1e4, false},
		{"all that must be in time fit", true, true, 0.1, 0, false, 1, 1e4, false},
		{"it fits", false, false, 0.1, 0, false, 1, 1e4, false},
		{"delays too small to count", false, false, 0.5, 1 - 4e-5, false, 1e-3, 10, false},
		{"delays that are not", false, false, 0.5, 1 - 1e-4, true, 1e-3, 10, false},
		{"beside a great return", false, false, 0.5, 0.97, false, 1, 1e9, false},
		{"beside a great one, but far less", false, false, 0.5, 0.9, true, 1, 1e9, false},
		{"less than both lose", false, false, 0.5, 0.99 * 2, true, 1, 1e4, true},
		{"more than both lose", false, false, 0.5, 1.01 * 2, false, 1, 1e4, true},
		{"less than both lose, of short spans", false, false, 0.5, 2 * (1 - 1e-4), true, 1e-3, 10, true},
	} {
		v := &still{specs: []hosts.Spec{{CPUs: 1, Speed: 1}}, on: make([][]contracts.Allocation, 1)}
		span := 40 * c.scale
		v.add(0, goldenTask{Left: span / 2, Span: span, Runtime: span / 2, Deadline: span, Budget: c.top})
		v.add(0, goldenTask{Left: 0.4 * span, Span: span, Runtime: 0.4 * span, Deadline: span, Budget: 1, Penalty: penalty, Hard: c.hard})
		for i := range v.on[0] { // each goes on with what it needs
			v.on[0][i].Rate = v.contracts[i].Work / span
		}
		p := &returns{SLAOptions: sharing.DefaultSLA()}
		p.see(v)
		r := contracts.Request{Work: span * c.need, SLA: contracts.SLA{Deadline: span, Soft: !c.also}}
		p.face(0, &r, &v.specs[0])
		p.offer.Budget = c.gain * lost / c.scale * r.Work * span
		if c.own {
			p.offer.Penalty = contracts.Penalty{Rate: penalty * c.need / 0.4, Max: math.Inf(1)}
		}
		a := p.arrives(&p.hosts[0])
		if got := p.loses(0, &p.hosts[0], &a); got != c.want {
			t.Errorf("%s: surely loses %v, want %v", c.name, got, c.want)
		}
	}
}

// TestLosses checks, by hand, what is kept of a host of speed 2 at instant 10. On top a
// soft task goes on for 20 s of the 40 until its deadline; below it are a hard one that
// needs 0.25, and a soft one of 0.2 that is meant to be done 10 s after its deadline, in
// 50 s, with a of 0.5/20/80 dollars per second squared. Needs stay as they are until a
// task has nothing left, in 40 s to a tick; half of that is looked at.
func TestLosses(t *testing.T) {
	t.Parallel()
	const now = 10.0
	v := &still{specs: []hosts.Spec{{CPUs: 1, Speed: 2}}, on: make([][]contracts.Allocation, 1)}
	late := now + 50
	v.add(0, goldenTask{Left: 20, Span: 40, Runtime: 40, Deadline: 80, Budget: 1e4})
	v.add(0, goldenTask{Left: 10, Span: 40, Runtime: 20, Deadline: 80, Budget: 8, Hard: true})
	v.add(0, goldenTask{Left: 10, Span: 40, Runtime: 20, Deadline: 80, Budget: 16, Penalty: 0.5, Target: &late})
	for i, rate := range []float64{1, 0.5, 0.4} { // of twice the need
		v.contracts[i].Submit += now
		v.on[0][i].Rate, v.on[0][i].At = rate, now
	}
	p := &returns{SLAOptions: sharing.DefaultSLA()}
	p.see(v)
	p.face(0, &contracts.Request{Work: 1, SLA: contracts.SLA{Deadline: 1}}, &v.specs[0])
	h := &p.hosts[0]
	p.bound(now, h)
	const a = 0.5 / 20 / 80
	want := losses{
		until: now + (40-sharing.Tick)/2, hard: 0.25, others: 0.2, pace: a, ends: a * late, slack: a * 2 * (sharing.Tick + 1e-9*80),
		mass: 1e4/40/80. + 8./20/80 + 16./20/80 + a*10,
	}
	for _, x := range [][2]float64{
		{h.until, want.until}, {h.hard, want.hard}, {h.others, want.others}, {h.pace / a, want.pace / a}, {h.ends / a, want.ends / a},
		{h.slack / want.slack, 1}, {(h.mass - 3.125) / a, (want.mass - 3.125) / a},
	} {
		if h.vague || math.Abs(x[0]-x[1]) > 1e-7*x[1] {
			t.Fatalf("%+v, want %+v", h.losses, want)
		}
	}
}

// TestLossesVague checks that nothing is known where needs may exceed the host, to half
// a sliver; and that a task with no more than a tick left has nothing to lose.
func TestLossesVague(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		left  float64 // of a task that is due in 40 s
		vague bool
		pace  float64
	}{
		{20, false, 1}, {20 + 16*sliver, false, 1}, {20 + 36*sliver, true, 1}, {20 + 60*sliver, true, 1}, {20 + 100*sliver, true, 1},
		{2 * sharing.Tick, false, 1}, {sharing.Tick, false, 0},
	} {
		v := &still{specs: uniform(1), on: make([][]contracts.Allocation, 1)}
		v.add(0, goldenTask{Left: 20, Span: 40, Budget: 1e4})
		v.add(0, goldenTask{Left: c.left, Span: 40, Penalty: 40 * c.left})
		p := &returns{SLAOptions: sharing.DefaultSLA()}
		for i := range v.on[0] {
			v.on[0][i].Rate = v.contracts[i].Work / 40
		}
		p.see(v)
		p.face(0, &contracts.Request{Work: 1, SLA: contracts.SLA{Deadline: 1}}, &v.specs[0])
		p.bound(0, &p.hosts[0])
		if h := &p.hosts[0]; h.vague != c.vague || !close(h.pace, c.pace) {
			t.Errorf("%v s left: vague %v, pace %v; want %v, %v", c.left, h.vague, h.pace, c.vague, c.pace)
		}
	}
}
