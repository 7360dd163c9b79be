package verify

import (
	"math/rand/v2"
	"testing"

	rates "bourse/market"
	"bourse/market/clearing"
)

// TestDoubleAgrees checks on random books that the audit and the market, which share no code,
// compute the same winners, units and price of an auction. Hosts have one or several
// processors.
func TestDoubleAgrees(t *testing.T) {
	t.Parallel()
	traded, unfit := 0, 0
	for seed := range uint64(4000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		hosts, cpus, k := 1+rng.IntN(5), 1+rng.IntN(3), float64(rng.IntN(5))/4
		s := &sale{rules: &Rules{Hosts: hosts, CPUs: float64(cpus)}, sold: &Sold{Policy: "call", K: k}}
		var book clearing.Book
		for range 1 + rng.IntN(3) {
			s.sold.Asks = append(s.sold.Asks, float64(rng.IntN(8)))
		}
		for h := range hosts {
			for range cpus {
				book.Asks = append(book.Asks, clearing.Ask{Seller: int32(h), Host: int32(h) + 1, Price: rates.Rate(1e9 * s.sold.Asks[h%len(s.sold.Asks)])})
			}
		}
		for id := range int64(rng.IntN(12)) {
			b := saleBid{id: id, price: 1e9*int64(rng.IntN(12)) + 1, nodes: 1 + rng.IntN(hosts), submit: float64(rng.IntN(3)), running: rng.IntN(2) == 0}
			s.bids = append(s.bids, b)
			book.Bids = append(book.Bids, clearing.Bid{ID: id, Units: b.nodes, Running: b.running, Submit: b.submit, Price: rates.Rate(b.price)})
		}
		var r clearing.Result
		if err := clearing.NewDouble(clearing.DoubleOptions{K: k}).Clear(&book, &r); err != nil {
			t.Fatal(err)
		}
		price, units, won := s.double(hosts * cpus)
		sold := 0
		for i, b := range s.bids {
			if sold += r.Units[i]; won[b.id] != (r.Units[i] > 0) {
				t.Fatalf("seed %d: bid %d wins: %v, and by the audit %v", seed, b.id, r.Units[i] > 0, won[b.id])
			}
			if r.Traded && r.Units[i] == 0 && rates.Rate(b.price) > r.Price {
				unfit++
			}
		}
		if traded += sold; price != int64(r.Price) || units != sold {
			t.Fatalf("seed %d: %d units at %d, and by the audit %d at %d", seed, sold, r.Price, units, price)
		}
	}
	if traded < 1000 || unfit < 100 {
		t.Errorf("%d units sold and %d bids that do not fit: too few to test", traded, unfit)
	}
}
