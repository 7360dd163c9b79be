package sim

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"bourse/hosts"
)

// TestHeap checks that whatever is pushed, popped and made void, the first entry is the
// least of those that are not void, and that void ones are never more than half.
func TestHeap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var h heap
		tasks := make([]hotTask, 300)
		held := map[hosts.Slot]twoFloat{}
		for slot := range hosts.Slot(300) {
			e := entry{key: twoFloat{float64(rapid.IntRange(0, 40).Draw(t, "key")), float64(rapid.IntRange(0, 1).Draw(t, "rest"))}, slot: slot}
			h.push(e)
			held[slot] = e.key
			switch what := rapid.IntRange(0, 4).Draw(t, "what"); {
			case what == 0:
				e := h.first(tasks)
				delete(held, e.slot)
				h.pop()
			case what <= 2:
				gone := hosts.Slot(rapid.IntRange(0, int(slot)).Draw(t, "void"))
				if _, ok := held[gone]; ok {
					delete(held, gone)
					tasks[gone].stamp++
					h.lose(tasks)
				}
			}
			e2, valid := h.first(tasks), len(h.entries)-int(h.void)
			if valid != len(held) || (e2 == nil) != (len(held) == 0) {
				t.Fatalf("%d entries are not void, want %d", valid, len(held))
			}
			if 2*int(h.void) > len(h.entries)+1 { // one that was not void has gone since
				t.Fatalf("%d of %d entries are void", h.void, len(h.entries))
			}
			for _, key := range held {
				if key.less(e2.key) {
					t.Fatalf("first is %v, want %v", e2.key, key)
				}
			}
		}
		for len(held) > 0 {
			e := h.first(tasks)
			if _, ok := held[e.slot]; !ok {
				t.Fatalf("slot %d is not held", e.slot)
			}
			delete(held, e.slot)
			h.pop()
			if next := h.first(tasks); next != nil && next.key.less(e.key) {
				t.Fatalf("%v comes before %v", e.key, next.key)
			}
		}
	})
}

// TestVoid checks that void entries stay while they are half of all, and all go with the
// one more.
func TestVoid(t *testing.T) {
	t.Parallel()
	for n := range 40 {
		var h heap
		tasks := make([]hotTask, n)
		for slot := range tasks {
			h.push(entry{key: twoFloat{float64(slot), 0}, slot: hosts.Slot(slot)})
		}
		for gone := 1; gone <= n; gone++ {
			tasks[n-gone].stamp++ // never the first: it would go for another reason
			h.lose(tasks)
			want := n
			if 2*gone > n {
				want = n - gone
			}
			if len(h.entries) != want {
				t.Errorf("%d entries are held with %d of %d void, want %d", len(h.entries), gone, n, want)
			}
			if 2*gone > n {
				break
			}
		}
	}
}

// TestTwoFloat checks sums and quotients of two floats against 300 bits: they are true
// to a few units of the 104th.
func TestTwoFloat(t *testing.T) {
	t.Parallel()
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	exact := func(a twoFloat) *big.Float { return num(0).Add(num(a.hi), num(a.lo)) }
	const eps = 0x1p-101
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) float64 {
			return math.Ldexp(rapid.Float64Range(0.5, 1).Draw(t, name), rapid.IntRange(-60, 60).Draw(t, name+" to the power of two"))
		}
		check := func(what string, got twoFloat, want *big.Float, scale float64) {
			t.Helper()
			off, _ := num(0).Sub(exact(got), want).Float64()
			if !(math.Abs(off) <= eps*scale) {
				t.Fatalf("%s: off by %v of %v", what, off, scale)
			}
			if math.Abs(got.lo) > math.Abs(got.hi)*0x1p-53 {
				t.Fatalf("%s = %v: the second float is not the rest of the first", what, got)
			}
		}
		a, b, x, y := draw("a"), draw("b"), draw("x"), draw("y")
		q := quotient(a, b)
		check("a / b", q, num(0).Quo(num(a), num(b)), a/b)
		p := quotient(x, y)
		sum := q.plus(p)
		check("a/b + x/y", sum, num(0).Add(exact(q), exact(p)), a/b+x/y)
		check("a/b + x", q.add(x), num(0).Add(exact(q), num(x)), a/b+x)
		if back := sum.minus(p); math.Abs(back-q.hi) > 0x1p-51*(q.hi+0x1p-45*p.hi) {
			t.Fatalf("a/b + x/y - x/y = %v, want %v", back, q.hi)
		}
		if less := q.less(p); less != (exact(q).Cmp(exact(p)) < 0) {
			t.Fatalf("%v < %v: %v", q, p, less)
		}
		if s := (twoFloat{q.hi, q.lo + math.Abs(q.hi)*0x1p-60}); q.lo != s.lo && (!q.less(s) || s.less(q)) {
			t.Fatalf("%v and %v are not in order", q, s)
		}
	})
}

// TestTurns checks that the order of start outlives four billion starts.
func TestTurns(t *testing.T) {
	t.Parallel()
	m := &Machine{many: -1}
	m.Reset(hosts.Spec{CPUs: 1, Speed: 1})
	start := func(key int64) hosts.Slot {
		slot, err := m.Start(0, hosts.Task{Key: key, Work: 1}, hosts.Share{Weight: 1})
		if err != nil {
			t.Fatal(err)
		}
		return slot
	}
	first := start(0)
	m.virtual.turn = math.MaxUint32 - 2
	for key := range int64(5) {
		start(key + 1)
	}
	m.Stop(0, first)
	start(6) // where the first was
	m.Processors()
	for i, r := range m.Advance(6, nil) {
		if r.Key != int64(i+1) {
			t.Errorf("task %d is reported as number %d", r.Key, i+1)
		}
	}
}
