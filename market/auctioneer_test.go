package market

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestShares checks eq. 4 of the paper: shares are in [0,1] and add up to 1, Quote returns the
// share that a new bid then obtains, and ShareIf returns the share that an existing bid then
// keeps.
func TestShares(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var a Auctioneer
		rates := rapid.SliceOfN(rapid.Int64Range(1, int64(MaxRate)), 1, 20).Draw(t, "rates")
		share := func(i int) float64 { return float64(ShareIf(float64(rates[i]), float64(a.Price()), 0)) }
		for i, r := range rates {
			kept := ShareIf(float64(rates[0]), float64(a.Price()), float64(r))
			quote := Quote(float64(r), float64(a.Price()))
			a.Bid(float64(i), 0, Rate(r))
			if got := share(i); math.Abs(got-float64(quote)) > 1e-15 {
				t.Fatalf("share = %v, want the quoted %v", got, quote)
			}
			if got := share(0); i > 0 && math.Abs(got-float64(kept)) > 1e-15 {
				t.Fatalf("share of the first = %v, want the predicted %v", got, kept)
			}
		}
		sum := 0.0
		for i := range rates {
			s := share(i)
			if !(s >= 0 && s <= 1) {
				t.Fatalf("share of %d = %v, want it in [0,1]", i, s)
			}
			sum += s
		}
		if !(math.Abs(sum-1) <= 1e-14) { // allows 20 rounding errors of 2^-53 each
			t.Fatalf("shares sum to %v, want 1", sum)
		}
	})
}

// TestPriceIsExact checks that the price equals the sum of the current bids to the nano-dollar
// after any sequence of bids.
func TestPriceIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var a Auctioneer
		var stands [6]Rate
		now := 0.0
		for range rapid.IntRange(1, 60).Draw(t, "bids") {
			now += rapid.Float64Range(0, 10).Draw(t, "dt")
			was := &stands[rapid.IntRange(0, 5).Draw(t, "bidder")]
			r := Rate(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 1<<60)).Draw(t, "rate"))
			a.Bid(now, *was, r)
			*was = r
		}
		var sum Rate
		for _, r := range stands {
			sum += r
		}
		if got := a.Price(); got != sum {
			t.Fatalf("price = %d, want %d", got, sum)
		}
		if got := a.History().Price(); got != sum {
			t.Fatalf("price in the history = %d, want %d", got, sum)
		}
	})
}

// TestBidRefuses checks that Bid panics on the arguments that its doc comment forbids.
func TestBidRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		now       float64
		was, rate Rate
	}{
		{"negative rate", 1, 0, -1},
		{"in place of a negative rate", 1, -1, 0},
		{"in place of what does not stand", 1, 2, 2},
		{"price above an int64", 1, 0, math.MaxInt64},
		{"time going back", 0.5, 0, 1},
		{"no time at all", math.NaN(), 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var a Auctioneer
			a.Bid(1, 0, 1)
			defer func() {
				if recover() == nil {
					t.Errorf("Bid(%v, %d, %d) did not panic", c.now, c.was, c.rate)
				}
				if a.Price() != 1 && c.now == 1 {
					t.Errorf("price = %d after a refused bid, want 1", a.Price())
				}
			}()
			a.Bid(c.now, c.was, c.rate)
		})
	}
}

// TestReset checks that an auctioneer after Reset behaves like a new one with the same window.
func TestReset(t *testing.T) {
	t.Parallel()
	a, err := New(Config{Window: 60})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		a.Bid(float64(i), 0, 5)
	}
	if err := a.Reset(Config{Window: 60}); err != nil {
		t.Fatal(err)
	}
	if mean, std := a.History().Moments(0); a.Price() != 0 || mean != 0 || std != 0 {
		t.Errorf("price %v, moments %v, %v after Reset; want none", a.Price(), mean, std)
	}
	if got := a.History().Window(); got != 60 {
		t.Errorf("window = %v after Reset, want 60", got)
	}
}

// TestNothingAllocated checks that an auctioneer stops allocating once its history has reached
// its largest number of steps.
func TestNothingAllocated(t *testing.T) {
	var a Auctioneer
	round := func() {
		if err := a.Reset(Config{Window: defaultWindow}); err != nil {
			t.Fatal(err)
		}
		for i := range 500 {
			a.Bid(float64(i)*7, a.Price(), Rate(i%4))
			a.History().Moments(float64(i) * 7)
		}
	}
	if got := testing.AllocsPerRun(10, round); got != 0 {
		t.Errorf("%v allocations in a warm run, want 0", got)
	}
}

// TestNoHistory checks that an auctioneer without a history has the same prices as one with a
// history, and records none.
func TestNoHistory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kept, err := New(Config{Window: 100})
		none, wrong := New(Config{Window: 100, NoHistory: true})
		if err != nil || wrong != nil {
			t.Fatal(err, wrong)
		}
		was := Rate(0)
		for i, r := range rapid.SliceOfN(rapid.Int64Range(1, int64(MaxRate)), 1, 20).Draw(t, "rates") {
			kept.Bid(float64(i), was, Rate(r))
			none.Bid(float64(i), was, Rate(r))
			if was = Rate(r); none.Price() != kept.Price() {
				t.Fatalf("price %v, want %v", none.Price(), kept.Price())
			}
		}
		if mean, _ := none.History().Moments(1000); mean != 0 || none.History().Price() != 0 {
			t.Fatalf("a mean of %v is remembered", mean)
		}
		if err := none.Reset(Config{Window: 100}); err != nil {
			t.Fatal(err)
		}
		if none.Bid(0, 0, was); none.History().Price() != was {
			t.Fatalf("price %v is remembered, want %v", none.History().Price(), was)
		}
	})
}
