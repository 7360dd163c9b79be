package eventheap_test

import (
	"cmp"
	container "container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bourse/hosts/eventheap"
)

// TestOrder checks that, after random calls that set, move and remove items, the heap returns
// the items sorted by time, and items with equal times sorted by number.
func TestOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type due struct {
			item int32
			at   float64
		}
		var a eventheap.Heap
		if rapid.Bool().Draw(t, "used before") {
			a.Set(3, 1)
			a.Set(1, 1)
			a.Reset()
		}
		held := map[int32]float64{}
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			item := rapid.Int32Range(0, 60).Draw(t, "item")
			if rapid.IntRange(0, 3).Draw(t, "what") == 0 {
				a.Remove(item)
				delete(held, item)
			} else {
				at := float64(rapid.IntRange(0, 20).Draw(t, "at"))
				a.Set(item, at)
				held[item] = at
			}
			if at, ok := a.At(item); ok != has(held, item) || ok && at != held[item] {
				t.Fatalf("item %d is due at %v, %v, want %v", item, at, ok, held[item])
			}
		}
		var want []due
		for item, at := range held {
			want = append(want, due{item, at})
		}
		slices.SortFunc(want, func(x, y due) int {
			return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.item, y.item))
		})
		if a.Len() != len(want) {
			t.Fatalf("Len = %d, want %d", a.Len(), len(want))
		}
		for _, w := range want {
			item, at, ok := a.Min()
			if !ok || item != w.item || at != w.at || a.First() != at {
				t.Fatalf("Min = %d, %v, %v, First = %v, want %d, %v", item, at, ok, a.First(), w.item, w.at)
			}
			a.Remove(item)
		}
		if _, _, ok := a.Min(); ok || a.Len() != 0 || !math.IsInf(a.First(), 1) {
			t.Fatalf("%d items are left", a.Len())
		}
	})
}

func has(m map[int32]float64, item int32) bool { _, ok := m[item]; return ok }

// TestAllocations checks that a heap allocates nothing after Grow, even at its first use.
func TestAllocations(t *testing.T) {
	const n, runs = 100, 10
	fresh := make([]eventheap.Heap, runs+1)
	for i := range fresh {
		fresh[i].Grow(n)
	}
	next := 0
	if got := testing.AllocsPerRun(runs, func() {
		a := &fresh[next]
		next++
		for i := range int32(n) {
			a.Set(i, float64(i*37%n))
		}
		for i := range int32(n) {
			a.Set(i, float64(i*61%n))
		}
		for i := range int32(n) {
			a.Remove(i)
		}
		a.Reset()
	}); got != 0 {
		t.Errorf("%v allocations, want 0", got)
	}
}

// A plainHeap is an event heap implemented with container/heap.
type plainHeap struct {
	items []int32
	due   []float64 // due time of each item
	place []int     // place of each item in the heap
}

func (p *plainHeap) Len() int           { return len(p.items) }
func (p *plainHeap) Less(i, j int) bool { return p.due[p.items[i]] < p.due[p.items[j]] }
func (p *plainHeap) Push(x any)         { p.items = append(p.items, x.(int32)) }
func (p *plainHeap) Pop() any           { panic("nothing leaves") }
func (p *plainHeap) Swap(i, j int) {
	p.items[i], p.items[j] = p.items[j], p.items[i]
	p.place[p.items[i]], p.place[p.items[j]] = i, j
}

// BenchmarkHold moves the first of n items to a later time, as a simulation does, and prints
// how many times longer container/heap takes.
func BenchmarkHold(b *testing.B) {
	for _, n := range []int{15, 1000, 100_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			var heap eventheap.Heap
			plain := &plainHeap{due: make([]float64, n), place: make([]int, n)}
			heap.Grow(n)
			for i := range n {
				at := rng.Float64()
				heap.Set(int32(i), at)
				plain.due[i], plain.place[i] = at, i
				plain.Push(int32(i))
			}
			container.Init(plain)
			var onHeap, onPlain time.Duration
			const moves = 1000
			b.ReportAllocs()
			for b.Loop() {
				start := time.Now()
				for range moves {
					item, at, _ := heap.Min()
					heap.Set(item, at+rng.Float64())
				}
				last := time.Now()
				for range moves {
					item := plain.items[0]
					plain.due[item] += rng.Float64()
					container.Fix(plain, 0)
				}
				onHeap += last.Sub(start)
				onPlain += time.Since(last)
			}
			b.ReportMetric(float64(onPlain)/float64(onHeap), "container/ours")
			b.ReportMetric(float64(onHeap.Nanoseconds())/float64(b.N)/moves, "ns/move")
			b.ReportMetric(0, "ns/op")
		})
	}
}
