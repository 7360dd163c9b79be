package clearing

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

type goldenBundle struct {
	Won     []int64
	Welfare int64
	Pays    map[string]int64
	Revenue int64
}

func options(in *goldenBook) BundleOptions {
	o := DefaultBundle()
	o.Reserve = in.Reserve.Float64()
	if in.Norm != nil {
		o.Norm = *in.Norm
	}
	if in.Exact != nil {
		o.Exact = *in.Exact
	}
	return o
}

func TestGoldenVCG(t *testing.T)    { goldenBundles(t, "vcg", NewVCG) }
func TestGoldenGreedy(t *testing.T) { goldenBundles(t, "greedy", NewGreedy) }

func goldenBundles(t *testing.T, kind string, make func(BundleOptions) (Mechanism, error)) {
	golden(t, kind, func(t *testing.T, in goldenBook, want goldenBundle) {
		b, r := in.book(), new(Result)
		m, err := make(options(&in))
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Clear(b, r); err != nil {
			t.Fatal(err)
		}
		welfare, revenue, pays := int64(0), int64(0), map[string]int64{}
		for _, i := range r.Order {
			welfare += b.Bids[i].Value
			revenue += r.Pay[i]
			pays[strconv.FormatInt(b.Bids[i].ID, 10)] = r.Pay[i]
		}
		slices.Sort(want.Won)
		if won := r.won(b); !slices.Equal(won, want.Won) || welfare != want.Welfare || revenue != want.Revenue || !maps.Equal(pays, want.Pays) {
			t.Errorf("%v won, worth %d, pay %v, want %v, %d, %v", won, welfare, pays, want.Won, want.Welfare, want.Pays)
		}
	})
}

// bundlesOf returns a book of n random bundles.
func bundlesOf(rng *rand.Rand, n, capacity, span int) *Book {
	b := &Book{Capacity: capacity}
	for i := range n {
		from := float64(rng.IntN(span))
		b.Bids = append(b.Bids, Bid{ID: int64(i), User: int32(i), Units: 1 + rng.IntN(capacity), Value: rng.Int64N(1000), From: from, Seconds: float64(1 + rng.IntN(span))})
		b.Bids[i].To = from + b.Bids[i].Seconds
	}
	for range rng.IntN(3) {
		from := float64(rng.IntN(span))
		b.Held = append(b.Held, Span{1 + rng.IntN(capacity), from, from + float64(1+rng.IntN(span))})
	}
	return b
}

// utility returns the gain of bidder i if its true value is value.
func utility(b *Book, r *Result, i int, value int64) int64 {
	if r.Units[i] < b.Bids[i].Units {
		return 0
	}
	return value - r.Pay[i]
}

// A payAsBid chooses the same winners as greedy, but winners pay their bids.
type payAsBid struct{ greedy }

func (p *payAsBid) Clear(b *Book, r *Result) error {
	err := p.greedy.Clear(b, r)
	for i := range r.Pay {
		if r.Units[i] > 0 {
			r.Pay[i] = b.Bids[i].Value
		}
	}
	return err
}

// TestTruthful tries 10,000 random misreports of values. It checks that none of them increases
// the bidder's gain under vcg and greedy, and that some do if winners pay their bids. Winners
// pay at least their reserve price and at most their bid, and losers pay nothing.
func TestTruthful(t *testing.T) {
	t.Parallel()
	for _, norm := range []float64{0.5, 1} {
		o := DefaultBundle()
		o.Norm, o.Reserve = norm, 500e-9
		vcg, err1 := NewVCG(o)
		greedy, err2 := NewGreedy(o)
		byBid, err3 := newGreedyRule(o)
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatal(err1, err2, err3)
		}
		for name, m := range map[string]Mechanism{"vcg": vcg, "greedy": greedy, "pay as bid": &payAsBid{*byBid}} {
			rng, r, gains, won := rand.New(rand.NewPCG(4, 2)), new(Result), 0, 0
			for range 1000 {
				b := bundlesOf(rng, 1+rng.IntN(8), 1+rng.IntN(5), 12)
				if err := m.Clear(b, r); err != nil || r.Approximate {
					t.Fatal(err, r.Approximate)
				}
				used := make([]int, 24)
				for _, h := range b.Held {
					for at := h.From; at < h.To; at++ {
						used[int(at)] = min(b.Capacity, used[int(at)]+h.Units)
					}
				}
				honest := slices.Clone(r.Pay)
				for i, n := range r.Units {
					bid := &b.Bids[i]
					least := int64(500 * float64(bid.Units) * (bid.To - bid.From) / 1000)
					if n != 0 && (n != bid.Units || r.Pay[i] < least || r.Pay[i] > bid.Value) || n == 0 && r.Pay[i] != 0 {
						t.Fatalf("%s: bid %+v obtains %d units for %d", name, bid, n, r.Pay[i])
					}
					for at := bid.From; at < bid.To; at++ {
						if used[int(at)] += n; used[int(at)] > b.Capacity {
							t.Fatalf("%s: %d units at %v, want at most %d", name, used[int(at)], at, b.Capacity)
						}
					}
					honest[i] = utility(b, r, i, bid.Value)
					won += n
				}
				for range 10 {
					i := rng.IntN(len(b.Bids))
					value := b.Bids[i].Value
					b.Bids[i].Value = rng.Int64N(1500)
					if err := m.Clear(b, r); err != nil {
						t.Fatal(err)
					}
					if lie := utility(b, r, i, value); lie > honest[i] {
						gains++
						if name != "pay as bid" {
							t.Fatalf("%s, norm %v: bidder %d of %+v gains %d with its value %d, %d otherwise", name, norm, i, b, honest[i], value, lie)
						}
					}
					b.Bids[i].Value = value
				}
			}
			if won == 0 || (name == "pay as bid") != (gains > 0) {
				t.Errorf("%s: %d units won, %d bidders gain", name, won, gains)
			}
		}
	}
}

// TestVCGIsBest compares the welfare, the winners and the payments of vcg with a search over all
// sets of bids. Among several best sets, the one that contains the earliest bid in which they
// differ must win.
func TestVCGIsBest(t *testing.T) {
	t.Parallel()
	m, _ := NewVCG(DefaultBundle())
	rng, r := rand.New(rand.NewPCG(9, 2)), new(Result)
	for range 2000 {
		b := bundlesOf(rng, rng.IntN(8), 1+rng.IntN(4), 6)
		for i := range b.Bids {
			b.Bids[i].Value %= []int64{4, 1000}[rng.IntN(2)] // small values often result in several best sets
		}
		if err := m.Clear(b, r); err != nil || r.Approximate {
			t.Fatal(err, r.Approximate)
		}
		won := 0
		for _, i := range r.Order {
			won |= 1 << i
		}
		all, set := everySet(b, -1)
		if won != set {
			t.Fatalf("%b of %+v won, want %b", won, b, set)
		}
		for _, i := range r.Order {
			others, _ := everySet(b, i)
			if want := others - (all - b.Bids[i].Value); r.Pay[i] != want {
				t.Fatalf("bid %d of %+v pays %d, want %d", i, b, r.Pay[i], want)
			}
		}
	}
}

// everySet tries all sets that do not contain one given bid, and returns the best one as a bit
// mask.
func everySet(b *Book, without int) (best int64, set int) {
	earlier := func(x, y int) bool { // reports whether x contains the first bid in which the sets differ
		d := x ^ y
		return x&(d&-d) != 0
	}
	for s := range 1 << len(b.Bids) {
		value, used := int64(0), make([]int, 16)
		for _, h := range b.Held {
			for at := h.From; at < h.To; at++ {
				used[int(at)] = min(b.Capacity, used[int(at)]+h.Units)
			}
		}
		fits := true
		for i, bid := range b.Bids {
			if s>>i&1 == 0 {
				continue
			}
			value += bid.Value
			fits = fits && i != without && bid.Value > 0
			for at := bid.From; at < bid.To; at++ {
				used[int(at)] += bid.Units
				fits = fits && used[int(at)] <= b.Capacity
			}
		}
		if fits && (value > best || value == best && earlier(s, set)) {
			best, set = value, s
		}
	}
	return best, set
}

// TestBundlesAllocate checks that only the first clearing allocates memory.
func TestBundlesAllocate(t *testing.T) {
	vcg, _ := NewVCG(DefaultBundle())
	greedy, _ := NewGreedy(DefaultBundle())
	for name, m := range map[string]Mechanism{"vcg": vcg, "greedy": greedy} {
		b, r := bundlesOf(rand.New(rand.NewPCG(1, 1)), 20, 6, 30), new(Result)
		if n := testing.AllocsPerRun(10, func() { _ = m.Clear(b, r) }); n > 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}

// BenchmarkVCG clears a book of 24 bids exactly, and BenchmarkGreedy clears a book of 2,000
// bids. Each must take less than 1 s.
func BenchmarkVCG(b *testing.B)    { benchmarkBundles(b, NewVCG, 24, 8, 30) }
func BenchmarkGreedy(b *testing.B) { benchmarkBundles(b, NewGreedy, 2000, 64, 3000) }

func benchmarkBundles(b *testing.B, make func(BundleOptions) (Mechanism, error), n, capacity, span int) {
	m, _ := make(DefaultBundle())
	book, r := bundlesOf(rand.New(rand.NewPCG(1, 1)), n, capacity, span), new(Result)
	for b.Loop() {
		if err := m.Clear(book, r); err != nil || r.Approximate {
			b.Fatal(err, r.Approximate)
		}
	}
}
