package verify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestCrowd checks that the number of tasks in a host's crowd does not change the result. It
// uses random markets with few and many bids, with and without limits. The tasks that end by
// themselves must be the same as those computed individually, and the work and debts of all
// tasks must agree within one part in 10^12. Each crowd must be consistent after each change.
func TestCrowd(t *testing.T) {
	t.Parallel()
	crowded := 0
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 1))
		rules := Rules{Payment: []string{"spot", "usage", "bid"}[seed%3], Sharing: "auction", CPUs: float64(1 + r.IntN(8)), Cap: float64(r.IntN(3)), Speeds: []float64{1.5}}
		each, all := newMarket(&rules), newMarket(&rules)
		each.few, all.few = math.MaxInt, 0
		scale := []float64{0, 1, 4}[r.IntN(3)] // equal bids, or bids in a few octaves
		var old, young []*contract
		now, on := 0.0, map[string][2]*machine{}
		for step := range 200 {
			if r.IntN(3) > 0 {
				now += r.ExpFloat64() * 10
			}
			if k := r.IntN(len(old) + 10); k < len(old) && step%2 > 0 {
				each.stop(now, old[k])
				all.stop(now, young[k])
				same(t, seed, old[k], young[k])
				old[k], young[k] = old[len(old)-1], young[len(old)-1]
				old, young = old[:len(old)-1], young[:len(young)-1]
				continue
			}
			a, b := new(contract), new(contract)
			for k := range 1 + r.IntN(2) {
				name := fmt.Sprintf("h%d", k)
				if on[name][0] == nil {
					on[name] = [2]*machine{{name: name}, {name: name}}
					each.begin(on[name][0], now)
					all.begin(on[name][1], now)
				}
				n := task{bid: int64(1e6 * math.Exp(scale*r.NormFloat64())), need: math.Inf(1), pace: 1.5}
				if r.IntN(10) == 0 {
					n.bid = 1e14
				}
				if r.IntN(3) == 0 {
					n.need = 100 * r.ExpFloat64()
				}
				if r.IntN(4) == 0 {
					n.most = r.Float64()
				}
				n.bid++
				n.host = on[name][0]
				a.tasks = append(a.tasks, n)
				n.host = on[name][1]
				b.tasks = append(b.tasks, n)
			}
			each.start(now, a)
			all.start(now, b)
			for name, h := range on {
				each.advance(h[0], now)
				all.advance(h[1], now)
				if h[0].price != h[1].price || h[0].crowd != nil {
					t.Fatalf("seed %d, %s: a price of %d, want %d", seed, name, h[1].price, h[0].price)
				}
				crowded += sound(t, seed, h[1].crowd)
			}
			old, young = append(old, a), append(young, b)
		}
		for k := range old {
			each.stop(now, old[k])
			all.stop(now, young[k])
			same(t, seed, old[k], young[k])
		}
	}
	if crowded < 30000 {
		t.Errorf("%d tasks in crowds, want many", crowded)
	}
}

func same(t *testing.T, seed uint64, want, got *contract) {
	t.Helper()
	for i := range want.tasks {
		g, w := &got.tasks[i], &want.tasks[i]
		if !near(g.done, w.done, 1e-12*w.done+1e-11) || !near(g.owed, w.owed, 1e-12*w.owed+1e-3) {
			t.Fatalf("seed %d: %v done and %v owed, want %v and %v", seed, g.done, g.owed, w.done, w.owed)
		}
	}
}

// sound checks that a crowd is ordered by bid and returns the number of its tasks.
func sound(t *testing.T, seed uint64, c *task) int {
	t.Helper()
	if c == nil {
		return 0
	}
	if c.left != nil && !c.left.before(c) || c.right != nil && !c.before(c.right) || c.heaviest != c.last().bid {
		t.Fatalf("seed %d: a crowd out of order at a bid of %d", seed, c.bid)
	}
	return sound(t, seed, c.left) + 1 + sound(t, seed, c.right)
}

// crowding returns a market and one of its hosts, on which all tasks are in a crowd.
func crowding() (*market, *machine) {
	m, h := newMarket(&Rules{Payment: "spot", Sharing: "auction", CPUs: 1}), &machine{name: "h0"}
	m.few = 0
	m.begin(h, 0)
	return m, h
}

// TestCrowdLeaves checks that a task in a crowd leaves exactly when its work is done, even
// if no individually handled task leaves then.
func TestCrowdLeaves(t *testing.T) {
	t.Parallel()
	m, h := crowding()
	var all []*contract
	for i := range 8 {
		d := &contract{tasks: []task{{host: h, bid: 5, need: float64(i+1) / 8}}}
		all = append(all, d)
		m.start(0, d)
	}
	at := h.over()
	if h.crowd == nil || math.IsInf(at, 1) {
		t.Fatal("no crowd")
	}
	if m.advance(h, at); all[0].tasks[0].on || h.ended != at || h.freed != 5 || h.price != 35 {
		t.Errorf("on: %t; at %v %d left, and %d stayed, want 5 and 35 at %v", all[0].tasks[0].on, h.ended, h.freed, h.price, at)
	}
}

// TestHeavy checks the debt under spot of a task that bids 10^14 times as much as the others,
// after a similar task came and went at the same time. The debt must be exactly the sum of the
// other bids.
func TestHeavy(t *testing.T) {
	t.Parallel()
	m, h := crowding()
	var all []*contract
	for _, bid := range []int64{1, 1, 1, 1e14, 1e14} {
		d := &contract{tasks: []task{{host: h, bid: bid, need: math.Inf(1)}}}
		all = append(all, d)
		m.start(0, d)
	}
	m.stop(0, all[4])
	m.stop(1000, all[3])
	if got, want := all[3].tasks[0].owed, 3000.0; !near(got, want, 1e-9*want) {
		t.Errorf("%v nano-dollars owed, want %v", got, want)
	}
}
