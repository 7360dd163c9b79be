package slab_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/hosts/slab"
)

// TestLists checks that lists from one slab have the same contents as independent lists,
// however they grow and shrink. No list has more than four times the memory that it needs, or
// than the smallest block.
func TestLists(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s slab.Slab[int]
		got, want := make([][]int, 4), make([][]int, 4)
		for step := range rapid.IntRange(1, 300).Draw(t, "steps") {
			i := rapid.IntRange(0, 3).Draw(t, "list")
			if n := len(want[i]); n > 0 && rapid.IntRange(0, 9).Draw(t, "shrink") < 5 {
				k := rapid.IntRange(0, n-1).Draw(t, "which")
				want[i] = slices.Delete(want[i], k, k+1)
				got[i] = s.Trim(slices.Delete(got[i], k, k+1))
			} else {
				for range rapid.IntRange(1, 20).Draw(t, "burst") {
					want[i] = append(want[i], step)
					got[i] = append(s.Grow(got[i]), step)
				}
			}
			for i := range want {
				if !slices.Equal(got[i], want[i]) {
					t.Fatalf("step %d: list %d is %v, want %v", step, i, got[i], want[i])
				}
			}
			if n := cap(got[i]); n > 4 && n > 4*len(got[i])+4 {
				t.Fatalf("step %d: list %d has room for %d, and holds %d", step, i, n, len(got[i]))
			}
		}
	})
}

// TestSteady checks that lists that grow and shrink in turn allocate nothing once the slab has
// as much memory as they need in total.
func TestSteady(t *testing.T) {
	var s slab.Slab[float64]
	lists := make([][]float64, 100)
	rng := rand.New(rand.NewPCG(1, 1))
	swell := func() {
		i := rng.IntN(len(lists))
		for range 60 {
			lists[i] = append(s.Grow(lists[i]), 1)
		}
		for len(lists[i]) > 0 {
			lists[i] = s.Trim(lists[i][:len(lists[i])-1])
		}
	}
	for range 1000 {
		swell()
	}
	if n := testing.AllocsPerRun(1000, swell); n > 0 {
		t.Errorf("%v allocations a swell, want none", n)
	}
	room := 0
	for _, l := range lists {
		room += cap(l)
	}
	if room > 4*len(lists) {
		t.Errorf("%d empty lists have room for %d", len(lists), room)
	}
}

// TestLoose checks that a list is loose if at most a quarter of its memory is used, except for
// the smallest blocks.
func TestLoose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n, size int
		want    bool
	}{{4, 16, true}, {5, 16, false}, {3, 16, true}, {2, 8, true}, {0, 4, false}, {0, 8, true}} {
		if got := slab.Loose(c.n, c.size); got != c.want {
			t.Errorf("%d in room for %d is loose: %v, want %v", c.n, c.size, got, c.want)
		}
	}
}
