package byid

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestIndex compares an index that is reused many times with a map.
func TestIndex(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	var x Index
	if at := x.Find(0); at != -1 {
		t.Errorf("of no jobs one is at %d", at)
	}
	for range 200 {
		n := 1 + rng.IntN(20)
		ids := make([]int64, n)
		for i := range ids {
			ids[i] = [...]int64{int64(i), rng.Int64N(200) - 20, rng.Int64N(1 << 40), math.MaxInt64, math.MinInt64}[rng.IntN(5)]
		}
		x.Reset(ids[0], n)
		want := make(map[int64]int)
		for i, id := range ids {
			x.Put(id, i)
			want[id] = i
		}
		for _, id := range append(ids, -21, 0, 7, 60, 199, 1<<41) {
			at, ok := want[id]
			if !ok {
				at = -1
			}
			if found := x.Find(id); found != at {
				t.Fatalf("of %v job %d is at %d, want %d", ids, id, found, at)
			}
		}
	}
}
