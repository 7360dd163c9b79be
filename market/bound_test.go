package market

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBound checks that a ranking of very many items that keeps few of them in order
// answers as one that has just been made and keeps all: where the cheapest are taken and
// become dear, where only some are eligible, and where all at once become dear.
func TestBound(t *testing.T) {
	t.Parallel()
	const size = 5000
	r, rng := NewRanking(size), rand.New(rand.NewPCG(5, 6))
	most, least := 0, size
	var out []int32
	for call := range 2000 {
		ok := func(item int32) bool { return call%50 > 0 || item%997 == 0 }
		seed := rng.Uint64()
		out = r.Cheapest(7, rand.New(rand.NewPCG(seed, 1)), ok, out[:0])
		if call%100 == 0 {
			r.check(t)
			fresh := NewRanking(size)
			for item := range r.items {
				p := r.items[item].price
				fresh.Set(int32(item), p)
			}
			if want := fresh.Cheapest(7, rand.New(rand.NewPCG(seed, 1)), ok, nil); !slices.Equal(out, want) || fresh.bound != math.MaxInt64 {
				t.Fatalf("call %d: the cheapest are %v, want %v", call, out, want)
			}
		}
		if call > 100 {
			most, least = max(most, r.held), min(least, r.held)
		}
		for _, item := range out {
			r.Set(item, r.items[item].price+Rate(rng.IntN(1e6)))
		}
		for range 7 {
			item := int32(rng.IntN(size))
			r.Set(item, r.items[item].price/2)
		}
		if call%700 == 0 {
			for item := range int32(size) {
				r.Set(item, r.items[item].price+Rate(rng.IntN(1e6)))
			}
		}
	}
	if r.Reset(); least > size/4 || most < size || r.held != size {
		t.Errorf("%d to %d of %d items were kept in order, and %d after a reset: the bound was not moved", least, most, size, r.held)
	}
}

// TestBoundMoves checks that of 40,000 items about a 32nd part, 1,250, is kept in order once
// some have been asked for 64 times, about as many more when more than these are asked for,
// and all when all are.
func TestBoundMoves(t *testing.T) {
	t.Parallel()
	const size, aim = 40_000, 40_000 / 32
	r, rng := NewRanking(size), rand.New(rand.NewPCG(7, 8))
	for item, p := range rng.Perm(size) {
		r.Set(int32(item), Rate(1+p))
	}
	for range 64 {
		r.Cheapest(1, rng, nil, nil)
	}
	r.check(t)
	if r.held < aim || r.held > aim+1 {
		t.Errorf("%d are kept, want %d", r.held, aim)
	}
	r.Cheapest(r.held+1, rng, nil, nil)
	r.check(t)
	if r.held < aim+aim/2 || r.held > 3*aim { // sampled: one of 10 items, so to 3 % or so
		t.Errorf("%d are kept when more are asked for, want about %d", r.held, 2*aim)
	}
	all := r.Cheapest(size, rng, nil, nil)
	r.check(t)
	for i, item := range all {
		if r.items[item].price != Rate(i+1) {
			t.Fatalf("item %d of %d is at %d", i, len(all), r.items[item].price)
		}
	}
	if len(all) != size || r.held != size {
		t.Errorf("%d of %d are taken, %d kept", len(all), size, r.held)
	}
}

// TestBoundInBlocks checks that chunks are as they should be where the bound comes to stand
// between two of them, or leaves a short one behind another: every so many items, one after
// the other, have a price.
func TestBoundInBlocks(t *testing.T) {
	t.Parallel()
	const size = 20 * chunkSize / 2
	for _, block := range []int{1, 3, 100, 170, 255, 256, 257, 300} {
		r, rng := NewRanking(size), rand.New(rand.NewPCG(9, 10))
		for item := size - 1; item >= 0; item-- { // each stays in its chunk
			r.Set(int32(item), Rate(1+item/block))
		}
		r.check(t)
		for item := range int32(size) { // the second chunk becomes short, the first long
			switch {
			case item/256 == 1 && item%5 > 0:
				r.Set(item, size)
			case item >= size-200:
				r.Set(item, 0)
			}
		}
		for range 64 {
			r.Cheapest(1, rng, nil, nil)
		}
		r.check(t)
		if r.held < enough || r.held > enough+block {
			t.Errorf("blocks of %d: %d are kept", block, r.held)
		}
	}
}
