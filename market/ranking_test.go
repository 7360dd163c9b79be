package market

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// check fails the test unless r is sorted and contains each item once, at its price, in
// nonempty chunks whose number is limited.
func (r *Ranking) check(t interface{ Fatalf(string, ...any) }) {
	r.refresh()
	var all []key
	for i, c := range r.chunks {
		if len(c) == 0 && len(r.chunks) > 1 || cap(c) != chunkSize {
			t.Fatalf("chunk %d has %d keys and room for %d", i, len(c), cap(c))
		}
		if i > 0 && len(c)+len(r.chunks[i-1]) <= chunkSize/2 {
			t.Fatalf("chunks %d and %d have only %d and %d keys", i-1, i, len(r.chunks[i-1]), len(c))
		}
		all = append(all, c...)
	}
	var want []key
	for i := range r.items {
		want = append(want, key{r.items[i].price, int32(i)})
	}
	slices.SortFunc(want, compare)
	if !slices.Equal(all, want) {
		t.Fatalf("keys = %v, want %v", all, want)
	}
}

// drawPrices sets random prices. It draws from few or from many values, so that there are ties.
// The level of the prices changes between phases, so that chunks fill and become empty.
func drawPrices(t *rapid.T, n int) (*Ranking, *rand.Rand) {
	r := NewRanking(n)
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	for range rapid.IntRange(0, 4).Draw(t, "phases") {
		prices := rapid.SampledFrom([]int64{1, 2, 10, 1e6}).Draw(t, "prices")
		base := rapid.SampledFrom([]int64{0, 1, 2e6, 4e6}).Draw(t, "base")
		for range rapid.IntRange(0, 3*n).Draw(t, "updates") {
			r.Set(int32(rng.IntN(n)), Rate(base+rng.Int64N(prices)))
		}
	}
	return r, rng
}

// TestRanking checks that a ranking after updates has the order that sorting gives, and that
// Cheapest returns n different eligible items with the n lowest prices, in order.
func TestRanking(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{1, 2, 15, 64, 65, 300, 2000}).Draw(t, "size")
		r, rng := drawPrices(t, size)
		r.check(t)

		var ok func(int32) bool
		if keep := rapid.SampledFrom([]int{0, 1, 1, 1, 2, 5, 10}).Draw(t, "eligible tenths"); keep < 10 {
			ok = func(i int32) bool { return int(i*7919%10) < keep }
		}
		var want []key
		for i := range r.items {
			p := r.items[i].price
			if ok == nil || ok(int32(i)) {
				want = append(want, key{p, int32(i)})
			}
		}
		slices.SortFunc(want, compare)

		n := rapid.OneOf(rapid.IntRange(0, 12), rapid.IntRange(0, size+1)).Draw(t, "n")
		got := r.Cheapest(n, rng, ok, []int32{-1})
		if got[0] != -1 || len(got)-1 != min(n, len(want)) {
			t.Fatalf("%d items appended to %v, want %d", len(got)-1, got[:1], min(n, len(want)))
		}
		seen := map[int32]bool{}
		for i, item := range got[1:] {
			if seen[item] {
				t.Fatalf("item %d twice", item)
			}
			seen[item] = true
			if ok != nil && !ok(item) {
				t.Fatalf("item %d is not eligible", item)
			}
			if r.items[item].price != want[i].price {
				t.Fatalf("item number %d has price %d, want %d", i, r.items[item].price, want[i].price)
			}
		}
	})
}

// TestShortChunksJoin checks that a chunk that has become short joins its neighbour on either
// side. Most items move away from the first two chunks, in ascending and in descending order.
func TestShortChunksJoin(t *testing.T) {
	t.Parallel()
	const half = chunkSize / 2 // A new chunk holds this many items.
	for _, kept := range []int{1, 100, half / 2} {
		var away []int
		for i := range 2 * half {
			if i%half >= kept {
				away = append(away, i)
			}
		}
		for range 2 {
			r := NewRanking(4 * half)
			for _, i := range away {
				r.Set(int32(i), 1)
				r.check(t)
			}
			slices.Reverse(away)
		}
	}
}

// TestEmptyChunkGoes checks that a chunk is removed with its last item, even if its only
// neighbour is nearly full.
func TestEmptyChunkGoes(t *testing.T) {
	t.Parallel()
	const half = chunkSize / 2
	for _, first := range []bool{true, false} {
		r := NewRanking(2 * half)
		if first {
			for i := range int32(half) { // Append the items in order.
				r.Set(i, 1)
				r.check(t)
			}
			continue
		}
		for i := int32(2*half - 1); i >= 0; i-- { // Each item keeps its place.
			r.Set(i, 1)
		}
		for i := range int32(half) { // The last item of two chunks moves to the front.
			r.Set(half+i, 0)
			r.check(t)
		}
	}
}

// TestCheapestDependsOnPricesAlone checks that the result of Cheapest does not depend on
// earlier prices or queries.
func TestCheapestDependsOnPricesAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{15, 2000}).Draw(t, "size")
		r, rng := drawPrices(t, size)
		r.Cheapest(5, rng, nil, nil)
		fresh := NewRanking(size)
		for i := range r.items {
			p := r.items[i].price
			fresh.Set(int32(i), p)
		}
		n := rapid.IntRange(1, size).Draw(t, "n")
		got := r.Cheapest(n, rand.New(rand.NewPCG(1, 2)), nil, nil)
		want := fresh.Cheapest(n, rand.New(rand.NewPCG(1, 2)), nil, nil)
		if !slices.Equal(got, want) {
			t.Fatalf("cheapest = %v, want %v", got, want)
		}
		r.Reset()
		r.check(t)
	})
}

// TestCheapestOfNone checks that a query for no item, or for all items at the lowest price,
// draws no random numbers for the other items.
func TestCheapestOfNone(t *testing.T) {
	t.Parallel()
	for _, size := range []int{60, 64, 2000} {
		r := NewRanking(size)
		if got := r.Cheapest(0, nil, nil, nil); len(got) != 0 {
			t.Errorf("%d items of %d, want none", len(got), size)
		}
		r = NewRanking(size)
		for i := range int32(size - 1) {
			r.Set(i, 7)
		}
		rng, same := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
		if got := r.Cheapest(1, rng, nil, nil); len(got) != 1 || got[0] != int32(size-1) {
			t.Errorf("the cheapest of %d is %v", size, got)
		}
		if same.Uint64(); rng.Uint64() != same.Uint64() {
			t.Errorf("more than a lot among one was drawn of %d", size)
		}
	}
}

// TestCallsGoRound checks that items are drawn correctly after the counter of calls overflows.
func TestCallsGoRound(t *testing.T) {
	t.Parallel()
	r := NewRanking(2000)
	r.call = math.MaxUint32 - 2
	for i := range r.items {
		r.items[i].drawn = 1 // the very first call set the same mark
	}
	for call := range 6 {
		fresh := NewRanking(2000).Cheapest(20, rand.New(rand.NewPCG(uint64(call), 3)), nil, nil)
		got := r.Cheapest(20, rand.New(rand.NewPCG(uint64(call), 3)), nil, nil)
		if !slices.Equal(got, fresh) {
			t.Errorf("call %d: %v, want %v", call, got, fresh)
		}
	}
}

// TestTiesAreFair checks that all items tied for the last places are equally likely to be
// chosen for each of these places. The test covers few and many items, with and without
// ineligible ones. A fair ranking fails with probability 1e-6 per case.
func TestTiesAreFair(t *testing.T) {
	t.Parallel()
	const draws, n, cheaper = 20_000, 4, 2 // two items come first, and the others are tied for two places
	for _, c := range []struct {
		name       string
		size, tied int
		ok         func(int32) bool
	}{
		{"few", 15, 8, nil},
		{"few, some ineligible", 15, 12, func(i int32) bool { return i%3 != 0 }},
		{"many", 2000, 1000, nil},
		{"many, half ineligible", 2000, 1000, func(i int32) bool { return i%2 == 0 }},
		{"many, nearly all ineligible", 2000, 1000, func(i int32) bool { return i < 2 || i%100 == 7 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const seed = 20071
			rng := rand.New(rand.NewPCG(seed, uint64(c.size)))
			r := NewRanking(c.size)
			eligible := 0
			for i := range int32(c.size) {
				switch {
				case i < cheaper:
				case i < cheaper+int32(c.tied):
					r.Set(i, 10)
					if c.ok == nil || c.ok(i) {
						eligible++
					}
				default:
					r.Set(i, 20)
				}
			}
			ok := c.ok
			if ok != nil {
				ok = func(i int32) bool { return i < cheaper || c.ok(i) }
			}

			places := [n][]float64{}
			for i := range places {
				places[i] = make([]float64, c.size)
			}
			var out []int32
			for range draws {
				out = r.Cheapest(n, rng, ok, out[:0])
				if slices.Contains(out[3:], out[2]) {
					t.Fatalf("taken twice: %v (seed %d)", out, seed)
				}
				for place, item := range out {
					places[place][item]++
				}
			}
			for item := range int32(cheaper + c.tied) {
				times := 0.0
				for place := range places {
					times += places[place][item]
				}
				if (ok == nil || ok(item)) != (times > 0) { // 40 draws of each item are expected.
					t.Errorf("item %d was taken %v times (seed %d)", item, times, seed)
				}
			}
			fair := func(place, first, last, of int) {
				chi2, expected := 0.0, float64(draws)/float64(of)
				for item := first; item < last; item++ {
					if ok == nil || ok(int32(item)) {
						d := places[place][item] - expected
						chi2 += d * d / expected
					}
				}
				if p := (distuv.ChiSquared{K: float64(of - 1)}).Survival(chi2); p < 1e-6 {
					t.Errorf("place %d: chi-square = %.1f with %d degrees of freedom, p = %.2g (seed %d)", place, chi2, of-1, p, seed)
				}
			}
			for place := range n {
				if place < cheaper {
					fair(place, 0, cheaper, cheaper)
				} else {
					fair(place, cheaper, cheaper+c.tied, eligible)
				}
			}
		})
	}
}

// TestRankingAllocatesNothing checks that updates and queries allocate nothing after the first
// ones.
func TestRankingAllocatesNothing(t *testing.T) {
	r := NewRanking(5000)
	rng := rand.New(rand.NewPCG(1, 1))
	var out []int32
	round := func() {
		for i := range 20_000 {
			r.Set(int32(rng.IntN(5000)), Rate(rng.IntN(100)*(i/10_000)))
		}
		out = r.Cheapest(200, rng, func(i int32) bool { return i%2 == 0 }, out[:0])
		r.Reset()
	}
	if got := testing.AllocsPerRun(10, round); got != 0 {
		t.Errorf("%v allocations in a warm run, want 0", got)
	}
}

// TestRankingOfNone checks that a ranking without items returns none.
func TestRankingOfNone(t *testing.T) {
	t.Parallel()
	if got := NewRanking(0).Cheapest(2, rand.New(rand.NewPCG(1, 1)), nil, nil); len(got) != 0 {
		t.Errorf("%v, want none", got)
	}
}

// TestOneIsDrawn checks that Cheapest draws a random number also for an item with a unique
// price. Later draws therefore do not depend on how many prices are unique.
func TestOneIsDrawn(t *testing.T) {
	t.Parallel()
	r := NewRanking(5)
	for item := range int32(5) {
		r.Set(item, Rate(item))
	}
	got, want := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
	r.Cheapest(3, got, nil, nil)
	for range 3 {
		shuffle([]int32{0}, 1, want)
	}
	if g, w := got.Uint64(), want.Uint64(); g != w {
		t.Errorf("the next number is %d, want %d", g, w)
	}
}

// compare compares keys in the order of a ranking.
func compare(a, b key) int { return cmp.Or(cmp.Compare(a.price, b.price), cmp.Compare(a.item, b.item)) }
