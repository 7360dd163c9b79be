package live

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestReplay checks that a market decides again as it has decided, on hosts that are
// computed and come and go as they did, that contracts end alike and pay alike, and that
// other rules come to something else.
func TestReplay(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 2)
	for _, a := range w.agents {
		a.Exits = func(contract int64) float64 {
			return []float64{3, math.Inf(1), 5, 12}[contract%4]
		}
	}
	w.day()
	for i := range 12 {
		s := w.order(fmt.Sprintf("more-%d", i), fmt.Sprintf("user:%d", i%3), []string{"be", "cac"}[i%2], 1, float64(4+i), 30, 0.05)
		w.turn(message{Submit: &s})
		w.pass(3)
	}
	w.pass(40)
	w.turn(message{Gone: "h01"}, message{Shut: &shutting{Host: "h00", Shut: true, Operator: true}})
	for _, id := range []string{"nowhere", "here"} {
		s := w.order(id, "user:0", "be", 1, 2, 30, 0.01)
		w.turn(message{Submit: &s}, message{Shut: &shutting{Host: "h00", Operator: true}})
	}
	for _, id := range []string{"short", "long"} {
		s := w.order(id, "user:0", "be", 1, 30, 10, 0.01)
		w.turn(message{Submit: &s})
	}
	w.pass(40)
	disk := w.disk.CrashClone(vfs.CrashCloneCfg{})
	r, err := Replay("market", disk, "admission={name: class, default: be, label: strict}", "admission.default=cac", "market.payment=bid")
	if err != nil {
		t.Fatal(err)
	}
	really, again, other := r.Sides[0], r.Sides[1], r.Sides[2]
	if len(r.Jobs) != 21 || really.Fulfilled < 9 || really.Violated < 1 || really.Cancelled < 1 || really.Refused < 3 {
		t.Errorf("%+v", really)
	}
	for _, j := range r.Jobs {
		if c := must(w.market.Status(j.ID)); c.State != j.Was.State {
			t.Errorf("contract %d is %s, and was %s", j.ID, j.Was.State, c.State)
		}
	}
	// What hosts tell is a second old, and so is what they are told (live.md §20: 5 % a contract).
	if d := math.Abs(again.Paid.Float64() - really.Paid.Float64()); d > 0.05*really.Paid.Float64() {
		t.Errorf("paid %v, and really %v", again.Paid, really.Paid)
	}
	if !(other.Paid.Float64() > 1.02*again.Paid.Float64()) { // a bid is at least the price of a share
		t.Errorf("paid %v where bids are charged, and %v where the spot price is", other.Paid, again.Paid)
	}
	if _, err := Replay("market", disk, "listen=127.0.0.1:2"); err == nil || !strings.Contains(err.Error(), "want another --admission") {
		t.Errorf("the same rules: %v", err)
	}
}

// TestReplayKept checks that what is kept of a log is decided again.
func TestReplayKept(t *testing.T) {
	t.Parallel()
	w := keeping(t)
	w.busy(60, 150)
	r, err := Replay("market", w.disk.CrashClone(vfs.CrashCloneCfg{}), "admission=edf")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Jobs); n < 50 || n > 59 || r.Sides[1].Fulfilled != n || r.Sides[2].Fulfilled != n {
		t.Errorf("%d contracts: %+v", n, r.Sides)
	}
}
