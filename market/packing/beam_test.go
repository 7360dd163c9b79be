package packing

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBeam compares the results of narrow with sorting, for few and many losses, both distinct and
// equal.
func TestBeam(t *testing.T) {
	t.Parallel()
	var d program
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 11))
		d.losses = room(d.losses, 2+rng.IntN(3000))
		unlike := 1 + rng.IntN(5000)
		for i := range d.losses {
			d.losses[i] = float64(rng.IntN(unlike))
		}
		width := 1 + rng.IntN(len(d.losses)-1)
		sorted := slices.Sorted(slices.Values(d.losses))
		want, _ := slices.BinarySearch(sorted, sorted[width])
		if dropped, equals := d.narrow(width); dropped != sorted[width] || equals != width-want {
			t.Fatalf("seed %d: %v is dropped and %d as large kept, want %v and %d", seed, dropped, equals, sorted[width], width-want)
		}
	}
}
