package live

import (
	"math"
	"slices"
	"testing"
)

// A tally is a [Meter] that keeps what it is told.
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

// TestMeter checks what is measured: each decision once, also when the market is opened
// again, work that nobody pays, how far shares are off, and contracts by state.
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
	d := delivered{rates: map[int64]float64{1: 0.5, 2: 0.5}, since: map[int64]float64{1: 3, 2: 1}}
	if off := d.off(); off != 0.25 {
		t.Errorf("3 of 4 where half is due: off by %v, want 0.25", off)
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
	if got := y.unpaid - before; math.Abs(got-1) > 1e-9 { // the host hears of it a second later
		t.Errorf("%v s are not paid, want 1", got)
	}
	if want := []string{"be accept ", "dear reject no such class", "be accept "}; !slices.Equal(y.decided, want) {
		t.Errorf("decided %q, want %q", y.decided, want)
	}
	if n := w.market.Gauges().Contracts; n["cancelled"] != 2 || n["running"]+n["waiting"] != 0 {
		t.Errorf("contracts %v", n)
	}
	if y.turns < 10 || y.syncs <= y.turns || y.calls < 4 {
		t.Errorf("%d turns, %d syncs of the log, %d calls of the bank", y.turns, y.syncs, y.calls)
	}
}
