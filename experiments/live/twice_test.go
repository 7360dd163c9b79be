package live

import (
	"fmt"
	"math"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestDecideTwice checks that a market on hosts that tell by the second, whose programs need
// what was asked for, is as near to the same on computed hosts as a second lets it be; who is
// late is stopped at his deadline on both.
func TestDecideTwice(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 2)
	work := func(contract int64) float64 { return float64(4 + 3*(contract%4)) }
	for _, a := range w.agents {
		a.Exits = work
	}
	const n, late = 14, 12 // from that on
	for i := range n {
		nodes, class, deadline := 1+i%2, []string{"be", "cac"}[i%2], 60.0
		if i >= late {
			class, deadline = "be", work(int64(i+1))/2
		}
		s := w.order(fmt.Sprint(i), "user:0", class, nodes, work(int64(i+1)), deadline, 0.05)
		w.turn(message{Submit: &s})
		w.pass(6)
	}
	w.pass(90)
	two, err := DecideTwice("market", w.disk.CrashClone(vfs.CrashCloneCfg{}))
	if err != nil {
		t.Fatal(err)
	}
	if len(two.Contracts) != n || !(two.End-two.Begin > 150) {
		t.Errorf("%d contracts, %v s", len(two.Contracts), two.End-two.Begin)
	}
	for i, c := range two.Contracts {
		if string(c.Live.Decision) != string(c.Computed.Decision) && c.Live.State != c.Computed.State {
			t.Errorf("%+v", c)
		}
		if i >= late && (c.Live.State != "violated" || c.Computed.State != "violated" || math.Abs(c.Computed.Ended-c.Asked-c.Work/2) > 1e-9 || c.Live.Ended-c.Computed.Ended > 3) {
			t.Errorf("contract %d was %s after %v s, and %s after %v s", c.Contract, c.Live.State, c.Live.Ended-c.Asked, c.Computed.State, c.Computed.Ended-c.Asked)
		}
		if c.Live.State == "fulfilled" && (math.Abs(c.Live.Ended-c.Computed.Ended) > 3 || !(c.FirstWork > 0 && c.FirstWork <= 4)) {
			t.Errorf("contract %d ended after %v s and %v s, worked after %v s", c.Contract, c.Live.Ended-c.Asked, c.Computed.Ended-c.Asked, c.FirstWork)
		}
	}
	got, want, partly := 0.0, 0.0, 0
	for _, s := range two.Shares {
		got += s.For * s.Delivered
		want += s.For * s.Entitled
		if s.Partly {
			partly++
		} else if s.For >= 3 && math.Abs(s.Delivered-s.Entitled) > 0.02 {
			t.Errorf("%+v", s)
		}
	}
	if got < 0.9*want || got > 1.02*want || len(two.Shares) < n || partly == 0 {
		t.Errorf("%v s were delivered of %v, %d shares", got, want, len(two.Shares))
	}
	for side, all := range two.Prices {
		for _, p := range all {
			if !(p.Price.Price >= 0 && p.Price.Price < 1) || p.Host > 1 || p.At < two.Begin || p.At > two.End {
				t.Errorf("side %d: %+v", side, p)
			}
		}
		if len(all) < n {
			t.Errorf("side %d: %d prices", side, len(all))
		}
	}
}
