package live

import (
	"math"
	"slices"
	"testing"
)

// A tally is a [Meter] that stores its measurements.
type tally struct {
	unmetered
	turns, syncs, calls int
	decided             []string
	unpaid              float64
}

func (y *tally) Turn(float64)           { y.turns++ }
func (y *tally) LogSync(float64)        { y.syncs++ }
func (y *tally) BankCall(float64)       { y.calls++ }
func (y *tally) Unpaid(seconds float64) { y.unpaid += seconds }
func (y *tally) Decided(class, verdict, reason string) {
	y.decided = append(y.decided, class+" "+verdict+" "+reason)
}

// TestMeter checks the measurements of decisions, of unpaid work, of the error of shares and of
// the number of contracts by state. Each decision must be reported once, even if the market is
// reopened.
func TestMeter(t *testing.T) {
	t.Parallel()
	y := new(tally)
	w := newTown(t, file, 1)
	w.meter = y
	w.crash()
	first := w.turn(message{Submit: new(w.order("a", "user:0", "be", 1, 50, 100, 0.1))})[0].answer
	w.turn(message{Submit: new(w.order("b", "user:0", "dear", 1, 50, 100, 0.1))})
	second := w.turn(message{Submit: new(w.order("c", "user:0", "be", 1, 50, 100, 0.3))})[0].answer
	w.pass(5)
	if off := w.market.Gauges().Off["h00"]; off > 0.01 {
		t.Errorf("shares are off by %v", off)
	}
	d := delivered{rates: map[int64]float64{1: 0.5, 2: 0.5}, since: map[int64]float64{1: 3, 2: 1}, waited: map[int64]float64{2: 2.5}, length: 4}
	if off := d.off(); off != 0.5 {
		t.Errorf("1 of 2 that are due: off by %v, want 0.5", off)
	}
	d.waited[2] = 0 // the task sleeps
	if off := d.off(); off != 0 {
		t.Errorf("it does not wait: off by %v, want 0", off)
	}
	if y.unpaid != 0 {
		t.Errorf("%v s are not paid before anything has ended", y.unpaid)
	}
	w.turn(message{Cancel: w.cancel("d", "user:0", first.Contract)})
	w.crash()
	w.pass(1)
	before := y.unpaid
	w.turn(message{Cancel: w.cancel("e", "user:0", second.Contract)})
	w.pass(3)
	if got := y.unpaid - before; math.Abs(got-1) > 1e-9 { // the host receives it one second later
		t.Errorf("%v s are not paid, want 1", got)
	}
	if want := []string{"be accept ", "dear reject no such class", "be accept "}; !slices.Equal(y.decided, want) {
		t.Errorf("decided %q, want %q", y.decided, want)
	}
	if n := w.market.Gauges().Contracts; n["cancelled"] != 2 || n["running"]+n["waiting"] != 0 {
		t.Errorf("contracts %v", n)
	}
	if y.turns < 10 || y.syncs <= y.turns || y.calls < 4 {
		t.Errorf("%d turns, %d syncs of the log, %d calls to the bank", y.turns, y.syncs, y.calls)
	}
}

// TestPast checks that the stored history of a contract contains the changes in its share, its
// reported work and its end. A long history must not exceed the documented limit.
func TestPast(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 1)
	first := w.turn(message{Submit: new(w.order("a", "user:0", "be", 1, 10, 100, 0.1))})[0].answer
	w.pass(4)
	w.turn(message{Submit: new(w.order("b", "user:1", "be", 1, 10, 100, 0.1))})
	w.pass(4)
	w.turn(message{Cancel: w.cancel("c", "user:0", first.Contract)})
	w.pass(2)
	all := w.market.Past(first.Contract)
	if len(all) < 6 || all[0].Share != 1 || all[0].Work != 0 {
		t.Fatalf("%+v", all)
	}
	halved := 0
	for i, s := range all[1:] {
		if s.At < all[i].At || s.Work < all[i].Work {
			t.Errorf("after %+v %+v", all[i], s)
		}
		if all[i].Share == 1 && s.Share == 0.5 {
			halved++
		}
	}
	c := must(w.market.Status(first.Contract))
	if last := all[len(all)-1]; halved != 1 || last.Work != c.Done || last.Share != 0 || last.At < c.Ended {
		t.Errorf("%d changes to half, and in the end %+v of %+v", halved, last, c)
	}
	var p past
	p.init()
	for i := range 100_000 {
		p.add(1, Mark{At: float64(i), Share: 0.5, Work: float64(i)})
		p.add(2, Mark{At: float64(i), Share: float64(i)})
	}
	for id, l := range p.lines {
		all, n := l.marks, len(l.marks)
		if n > mostMarks || all[0].At != 0 || all[n-1].At != 99_999 {
			t.Errorf("%d: %d marks, from %v to %v", id, n, all[0], all[n-1])
		}
		for i, s := range all[1:] {
			if gap := s.At - all[i].At; gap <= 0 || gap > 4*100_000/mostMarks {
				t.Errorf("%d: nothing between %v and %v s", id, all[i].At, s.At)
			}
		}
	}
	for id := range int64(mostEnded + 10) {
		p.end(&Contract{ID: 10 + id}, 1)
	}
	if _, kept := p.lines[19]; kept || len(p.lines) != mostEnded+2 {
		t.Errorf("%d kept of %d that have ended", len(p.lines)-2, mostEnded+10)
	}
}

// TestLast checks which contracts are listed if the newest ones, or at most a given number, are
// requested.
func TestLast(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 1)
	var ids []int64
	for _, id := range []string{"a", "b", "c", "d"} {
		ids = append(ids, w.turn(message{Submit: new(w.order(id, "user:0", "be", 1, 10, 100, 0.1))})[0].answer.Contract)
	}
	w.turn(message{Cancel: w.cancel("e", "user:0", ids[1])})
	w.pass(2)
	for _, c := range []struct {
		f    Filter
		want []int64
	}{
		{Filter{}, []int64{ids[0], ids[2], ids[3]}}, {Filter{Most: 2}, []int64{ids[0], ids[2]}}, {Filter{Ended: true, Most: 2}, ids[:2]},
		{Filter{Ended: true, Last: 3}, ids[1:]}, {Filter{Last: 3}, ids[2:]}, {Filter{Ended: true, Last: 9}, ids}, {Filter{Ended: true, From: ids[1], Most: 2}, ids[1:3]},
	} {
		var got []int64
		for _, k := range must(w.market.List(c.f)) {
			got = append(got, k.ID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.f, got, c.want)
		}
	}
}
