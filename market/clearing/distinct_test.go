package clearing

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/market"
)

// TestDistinct checks on random books, in which sellers have several units, that no bid obtains two
// units of a seller, that the price is at most each winning bid and at least each ask that is sold,
// and that no losing bid above the price fits. Such a bid must need more sellers than there are
// sellers with unsold units. A job that runs on all its units keeps them if all asks are equal and
// no other bid is higher.
func TestDistinct(t *testing.T) {
	t.Parallel()
	moved, unfit := 0, 0
	m, r := NewDouble(DoubleOptions{K: 0.5}), new(Result)
	rapid.Check(t, func(t *rapid.T) {
		b := new(Book)
		hosts, cpus, dearest := rapid.IntRange(1, 4).Draw(t, "sellers"), rapid.IntRange(2, 3).Draw(t, "units"), rapid.SampledFrom([]int{1, 10}).Draw(t, "dearest")
		room := make([][]int, hosts) // bids whose jobs run on units of each seller
		for i := range rapid.IntRange(0, 8).Draw(t, "bids") {
			n := rapid.IntRange(1, hosts).Draw(t, "nodes")
			running := rapid.Bool().Draw(t, "running")
			var on []int
			for h := range hosts {
				if running && len(on) < n && len(room[h]) < cpus {
					on = append(on, h)
				}
			}
			if running = running && len(on) == n; running {
				for _, h := range on {
					room[h] = append(room[h], i+1)
				}
			}
			b.Bids = append(b.Bids, Bid{ID: int64(i), Units: n, Price: market.Rate(rapid.IntRange(0, 20).Draw(t, "bid")), Running: running})
		}
		for h := range hosts {
			ask := market.Rate(rapid.IntRange(1, dearest).Draw(t, "ask"))
			for u := range cpus {
				a := Ask{Seller: int32(h), Host: int32(h) + 1, Price: ask}
				if u < len(room[h]) {
					a.On = int32(room[h][u])
				}
				b.Asks = append(b.Asks, a)
			}
		}
		if err := m.Clear(b, r); err != nil {
			t.Fatal(err)
		}
		got := make([][]int32, len(b.Bids))
		unsold := map[int32]bool{}
		for a, taker := range r.Takers {
			if r.Sold[a] != (taker > 0) {
				t.Fatalf("ask %d: sold is %v, but its taker is %d", a, r.Sold[a], taker)
			}
			if taker == 0 {
				unsold[b.Asks[a].Seller] = true
			} else if got[taker-1] = append(got[taker-1], b.Asks[a].Seller); b.Asks[a].Price > r.Price {
				t.Fatalf("an ask of %d is sold at %d", b.Asks[a].Price, r.Price)
			}
		}
		for i := range b.Bids {
			bid := &b.Bids[i]
			if n := len(slices.Compact(slices.Clone(got[i]))); n != r.Units[i] || n != 0 && n != bid.Units {
				t.Fatalf("bid %d for %d units obtains %d units of sellers %v", i, bid.Units, r.Units[i], got[i])
			}
			if r.Traded && r.Units[i] > 0 && bid.Price < r.Price {
				t.Fatalf("bid %d of %d wins at %d", i, bid.Price, r.Price)
			}
			if r.Traded && r.Units[i] == 0 && bid.Price > r.Price && dearest == 1 {
				if unfit++; len(unsold) >= bid.Units {
					t.Fatalf("bid %d of %d for %d units loses at %d, with units of %d sellers unsold", i, bid.Price, bid.Units, r.Price, len(unsold))
				}
			}
			for a := range b.Asks {
				if int(b.Asks[a].On) == i+1 && r.Units[i] > 0 && !slices.Contains(got[i], b.Asks[a].Seller) {
					moved++
					if dearest == 1 && len(unsold) > 0 && unsold[b.Asks[a].Seller] {
						t.Fatalf("bid %d moves off seller %d, which has an unsold unit", i, b.Asks[a].Seller)
					}
				}
			}
		}
	})
	if !testing.Short() && (moved == 0 || unfit == 0) {
		t.Errorf("%d moves and %d bids that do not fit: too few to test", moved, unfit)
	}
}

// TestOwnerOfSeveralHosts checks that one bid can obtain the units of several hosts of the same
// owner.
func TestOwnerOfSeveralHosts(t *testing.T) {
	t.Parallel()
	var r Result
	b := &Book{Asks: []Ask{{Seller: 7, Price: 2}, {Seller: 7, Price: 4}}, Bids: []Bid{{ID: 1, Units: 2, Price: 9}}}
	if err := NewDouble(DoubleOptions{}).Clear(b, &r); err != nil || !r.Traded || r.Price != 4 {
		t.Errorf("traded: %v at %d, %v, want 2 units at 4", r.Traded, r.Price, err)
	}
}
