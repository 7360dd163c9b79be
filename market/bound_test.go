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
			for item, p := range r.prices {
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
			r.Set(item, r.prices[item]+Rate(rng.IntN(1e6)))
		}
		for range 7 {
			item := int32(rng.IntN(size))
			r.Set(item, r.prices[item]/2)
		}
		if call%700 == 0 {
			for item := range int32(size) {
				r.Set(item, r.prices[item]+Rate(rng.IntN(1e6)))
			}
		}
	}
	if r.Reset(); least > size/4 || most < size || r.held != size {
		t.Errorf("%d to %d of %d items were kept in order, and %d after a reset: the bound was not moved", least, most, size, r.held)
	}
}
