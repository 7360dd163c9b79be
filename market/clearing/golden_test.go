package clearing

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"bourse/market"
)

// A goldenCase is a case of a golden file. An independent model computed its results in exact
// fractions.
type goldenCase[I, E any] struct {
	ID     string
	Kind   string
	Input  I
	Expect E
}

// golden calls f with each golden case of a kind. It reads the folder that BOURSE_GOLDEN_MECHANISMS
// names, testdata by default.
func golden[I, E any](t *testing.T, kind string, f func(t *testing.T, in I, want E)) {
	t.Helper()
	t.Parallel()
	folder := os.Getenv("BOURSE_GOLDEN_MECHANISMS")
	if folder == "" {
		folder = filepath.Join("testdata", "golden")
	}
	text, err := os.ReadFile(filepath.Join(folder, kind+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []goldenCase[I, E] }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 {
		t.Fatalf("no case of kind %s", kind)
	}
	for _, c := range file.Cases {
		t.Run(c.ID, func(t *testing.T) { f(t, c.Input, c.Expect) })
	}
}

// A goldenBook is the book of a golden case of an auction.
type goldenBook struct {
	K        float64
	Capacity int
	Reserve  market.Rate
	Norm     *float64
	Exact    *int
	Asks     []struct {
		Host   int
		Seller *int32
		Ask    market.Rate
	}
	Held []struct {
		Nodes    int
		From, To float64
	}
	Bids []struct {
		ID       int64
		Nodes    int
		Bid      market.Rate
		Value    int64
		Submit   float64
		Running  bool
		From, To float64
	}
}

func (g *goldenBook) book() *Book {
	b := &Book{Capacity: g.Capacity}
	for _, a := range g.Asks {
		seller := int32(a.Host)
		if a.Seller != nil {
			seller = *a.Seller
		}
		b.Asks = append(b.Asks, Ask{Seller: seller, Price: a.Ask})
	}
	for _, h := range g.Held {
		b.Held = append(b.Held, Span{h.Nodes, h.From, h.To})
	}
	for i, bid := range g.Bids {
		b.Bids = append(b.Bids, Bid{bid.ID, int32(i), bid.Nodes, bid.Running, bid.Submit, bid.Bid, bid.From, bid.To, bid.To - bid.From, bid.Value})
	}
	return b
}

// won returns the numbers of the bids that obtain units, in ascending order.
func (r *Result) won(b *Book) []int64 {
	won := []int64{}
	for _, i := range r.Order {
		won = append(won, b.Bids[i].ID)
	}
	return won
}

type goldenDouble struct {
	Traded    int
	Won       []int64
	Low, High market.Rate
	Price     *market.Rate
	Pays      map[string]market.Rate
	Sellers   map[string]market.Rate
	Skipped   []int64
}

func TestGoldenDouble(t *testing.T) {
	golden(t, "double", func(t *testing.T, in goldenBook, want goldenDouble) {
		b := in.book()
		r := Result{Price: -1}
		if err := NewDouble(DoubleOptions{in.K}).Clear(b, &r); err != nil {
			t.Fatal(err)
		}
		traded, pays, sellers, skipped := 0, map[string]market.Rate{}, map[string]market.Rate{}, []int64{}
		for i, n := range r.Units {
			traded += n
			if n > 0 {
				pays[strconv.FormatInt(b.Bids[i].ID, 10)] = r.Price * market.Rate(n)
			} else if b.Bids[i].Price > r.Price {
				skipped = append(skipped, b.Bids[i].ID)
			}
		}
		for i, sold := range r.Sold {
			if sold {
				sellers[strconv.Itoa(int(b.Asks[i].Seller))] += r.Price
			}
		}
		price := market.Rate(-1) // means that the mechanism did not change the price
		if want.Price != nil {
			price = *want.Price
		}
		if traded != want.Traded || r.Price != price || !slices.Equal(r.won(b), want.Won) {
			t.Errorf("%d units at %d to %v, want %d at %d to %v", traded, r.Price, r.won(b), want.Traded, price, want.Won)
		}
		if want.Traded == 0 {
			return
		}
		if r.Low != want.Low || r.High != want.High {
			t.Errorf("prices from %d to %d clear, want %d to %d", r.Low, r.High, want.Low, want.High)
		}
		slices.Sort(want.Skipped)
		slices.Sort(skipped)
		if !same(pays, want.Pays) || !same(sellers, want.Sellers) || !slices.Equal(skipped, want.Skipped) {
			t.Errorf("pays %v, sellers %v, skipped %v, want %v, %v, %v", pays, sellers, skipped, want.Pays, want.Sellers, want.Skipped)
		}
	})
}

// same reports whether got and want have the same numbers.
func same[K comparable, N market.Rate | int64 | int | float64](got, want map[K]N) bool {
	if len(got) != len(want) {
		return false
	}
	for k, v := range want {
		g, ok := got[k]
		if !ok || math.Abs(float64(g-v)) > 1e-9*max(1, math.Abs(float64(g)), math.Abs(float64(v))) {
			return false
		}
	}
	return true
}
