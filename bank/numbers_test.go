package bank

import (
	"math/rand/v2"
	"testing"
)

// TestNumbers compares the set of contracts with maps, for consecutive and for distant numbers.
func TestNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := newNumbers()
	admitted, open := map[int64]bool{}, map[int64]Account{}
	for range 20000 {
		n := rng.Int64N(300) + rng.Int64N(2)*(MaxContract-300)
		switch _, is := open[n]; {
		case is && rng.IntN(2) == 0:
			s.close(n)
			delete(open, n)
		case !is:
			open[n] = Account(rng.IntN(1000))
			s.open(n, open[n])
		case n%3 > 0:
			s.admit(n)
			admitted[n] = true
		}
		for _, n := range []int64{n, rng.Int64N(300), -1, MaxContract / 2} {
			want, is := open[n]
			if got, ok := s.escrow(n); got != want || ok != is || s.has(n) != admitted[n] {
				t.Fatalf("%d: escrow %d, %v, admitted %v; want %d, %v, %v", n, got, ok, s.has(n), want, is, admitted[n])
			}
		}
	}
	for s.clear(); len(admitted) > 0; {
		for n := range admitted {
			if delete(admitted, n); s.has(n) {
				t.Errorf("%d is there after all have been cleared", n)
			}
		}
	}
}
