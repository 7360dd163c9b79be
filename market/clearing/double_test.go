package clearing

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/market"
)

// large returns a book with n bids and n asks.
func large(n int) *Book {
	rng := rand.New(rand.NewPCG(1, 2))
	b := new(Book)
	for i := range n {
		b.Bids = append(b.Bids, Bid{ID: int64(i), Units: 1 + rng.IntN(3), Price: market.Rate(rng.IntN(1e6)), Submit: float64(rng.IntN(100))})
		b.Asks = append(b.Asks, Ask{Price: market.Rate(rng.IntN(1e6))})
	}
	return b
}

// TestDoubleAllocates checks that only the first clearing allocates memory.
func TestDoubleAllocates(t *testing.T) {
	b, r, m := large(1000), new(Result), NewDouble(DoubleOptions{K: 0.5})
	if n := testing.AllocsPerRun(10, func() { _ = m.Clear(b, r) }); n > 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// BenchmarkDouble clears 100,000 bids. It must take less than 100 ms.
func BenchmarkDouble(b *testing.B) {
	book, r, m := large(100000), new(Result), NewDouble(DoubleOptions{K: 0.5})
	for b.Loop() {
		_ = m.Clear(book, r)
	}
}

// TestDouble checks on random books that the payments equal the receipts, that no bidder pays
// more than its bid and no seller receives less than its ask, and that with bids of one unit
// every price that clears is in [s(B), s(B+1)] of Satterthwaite and Williams.
func TestDouble(t *testing.T) {
	t.Parallel()
	m, r := NewDouble(DoubleOptions{K: 0.5}), new(Result)
	rapid.Check(t, func(t *rapid.T) {
		widest := rapid.SampledFrom([]int{1, 4}).Draw(t, "widest")
		b := new(Book)
		var all []market.Rate
		for i := range rapid.IntRange(0, 8).Draw(t, "bids") {
			b.Bids = append(b.Bids, Bid{ID: int64(i), Units: rapid.IntRange(1, widest).Draw(t, "units"),
				Price: market.Rate(rapid.IntRange(0, 20).Draw(t, "bid")), Running: rapid.Bool().Draw(t, "running")})
			all = append(all, b.Bids[i].Price)
		}
		for range rapid.IntRange(0, 8).Draw(t, "asks") {
			b.Asks = append(b.Asks, Ask{Price: market.Rate(rapid.IntRange(0, 20).Draw(t, "ask")), On: int32(rapid.IntRange(0, len(b.Bids)).Draw(t, "on"))})
			all = append(all, b.Asks[len(b.Asks)-1].Price)
		}
		if err := m.Clear(b, r); err != nil {
			t.Fatal(err)
		}
		bought, sold := 0, 0
		for i, n := range r.Units {
			bought += n
			if n > 0 && (n != b.Bids[i].Units || b.Bids[i].Price < r.Price) {
				t.Fatalf("bid %d of %d obtains %d units at %d", b.Bids[i].Price, b.Bids[i].Units, n, r.Price)
			}
		}
		for i, yes := range r.Sold {
			if yes {
				sold++
				if b.Asks[i].Price > r.Price {
					t.Fatalf("ask %d is sold at %d", b.Asks[i].Price, r.Price)
				}
			}
		}
		if bought != sold || r.Traded != (sold > 0) {
			t.Fatalf("%d units bought, %d sold", bought, sold)
		}
		if slices.Sort(all); widest == 1 && r.Traded {
			if n := len(b.Bids); r.Low != all[n-1] || r.High != all[n] {
				t.Fatalf("prices from %d to %d clear, want %d to %d", r.Low, r.High, all[n-1], all[n])
			}
		}
	})
}
