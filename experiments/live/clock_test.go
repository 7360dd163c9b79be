package live

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestClockJumps sets the wall clock of a market forward and back by up to a week, both while
// the market runs and while it is down. The jumps must have no visible effect: time passes at
// the machine's rate and never goes back. Only a jump forward while the market was down has an
// effect. No host may be lost, each contract must be settled, and the log and the ledger must
// pass their checks.
func TestClockJumps(t *testing.T) {
	t.Parallel()
	const week = 7 * 86400
	for range 4 {
		seed := rand.Uint64()
		rng := rand.New(rand.NewPCG(seed, 21))
		w := newTown(t, file, 2)
		off := 1e6
		start := func() {
			w.clock = newBootClock(func() float64 { return w.now + off }, func() float64 { return w.now })
		}
		begun, last := w.now, w.market.core.now // times of the current run
		check := func() {
			t.Helper()
			if passed := w.market.core.now - last; passed < w.now-begun-1e-6 || passed > w.now-begun+1e-6 {
				t.Fatalf("seed %d: the market saw %v s pass, want %v", seed, passed, w.now-begun)
			}
		}
		for n := range 40 {
			s := w.orderUntil(fmt.Sprint(n), fmt.Sprintf("user:%d", n%3), []string{"be", "cac"}[rng.IntN(2)], 1+rng.IntN(2), 3, 20, 0.01, 1e9)
			if r := w.turn(message{Submit: &s}); r[0].answer == nil {
				t.Fatalf("seed %d: %+v", seed, r[0])
			}
			w.pass(1 + rng.IntN(5))
			check()
			off += (2*rng.Float64() - 1) * week
			if rng.IntN(2) == 0 {
				start()
				w.crash()
				w.talk()
				begun, last = w.now, max(w.market.core.now, w.now+off)
				if now := w.market.core.now; now < last-1e-6 {
					t.Fatalf("seed %d: it begins at %v, want %v", seed, now, last)
				}
			}
		}
		w.pass(40)
		check()
		for _, h := range w.market.Hosts() {
			if h.State != "here" {
				t.Errorf("seed %d: %+v", seed, h)
			}
		}
		all := must(w.market.List(Filter{Ended: true}))
		for _, c := range all {
			if !c.Over() || c.Losses > 0 {
				t.Errorf("seed %d: %+v", seed, c)
			}
		}
		if len(all) != 40 || w.kills == 0 {
			t.Errorf("seed %d: %d contracts, %d starts", seed, len(all), w.kills)
		}
		w.check(40)
	}
}
