package bidding

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// worth returns the utility that a best response maximizes.
func worth(x, w, c []float64) float64 {
	sum := 0.0
	for h := range x {
		if x[h] > 0 {
			sum += w[h] * x[h] / (x[h] + max(c[h], reserve))
		}
	}
	return sum
}

func bids(w, c []float64, x float64, n int) []float64 {
	var b bestResponse
	out := make([]float64, len(w))
	b.bids(out, w, c, x, n)
	return out
}

// TestBids compares the closed form of Feldman, Lai and Zhang with values computed by hand.
func TestBids(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		w, c []float64
		x    float64
		n    int
		want []float64
	}{
		{"equal hosts share equally", []float64{1, 1}, []float64{2, 2}, 3, 2, []float64{1.5, 1.5}},
		// sqrt(wc) = 1, 2, so x = 1/3 (3+5) - 1 and 2/3 (3+5) - 4.
		{"cheap and dear", []float64{1, 1}, []float64{1, 4}, 3, 2, []float64{5. / 3, 4. / 3}},
		// At X = 1, the second host would get 2/3 (1+5) - 4 = 0, which is no bid.
		{"too dear", []float64{1, 1}, []float64{1, 4}, 1, 2, []float64{1, 0}},
		{"worth more", []float64{1, 4}, []float64{1, 1}, 4, 2, []float64{1, 3}},
		{"at most n", []float64{1, 1, 1}, []float64{3, 1, 2}, 6, 1, []float64{0, 6, 0}},
		{"equals by index", []float64{1, 1, 1}, []float64{2, 2, 2}, 4, 2, []float64{2, 2, 0}},
		{"worth nothing", []float64{0, 1}, []float64{1, 1}, 2, 2, []float64{0, 2}},
		{"all worth nothing", []float64{0, 0}, []float64{1, 1}, 2, 2, []float64{0, 0}},
		{"nothing to spend", []float64{1, 1}, []float64{1, 1}, 0, 2, []float64{0, 0}},
		{"no host wanted", []float64{1, 1}, []float64{1, 1}, 1, 0, []float64{0, 0}},
		{"free hosts alone", []float64{1, 1}, []float64{0, 0}, 3, 2, []float64{1.5, 1.5}},
		// A free host gets a small bid: sqrt(1e-9)/(1+sqrt(1e-9)) (3+1).
		{"a free host", []float64{1, 1}, []float64{0, 1}, 3, 2, []float64{1.2648710e-4, 2.9998735}},
		{"no hosts", nil, nil, 1, 3, nil},
		{"worth as much as a number can say", []float64{math.MaxFloat64}, []float64{1}, 2, 1, []float64{2}},
	} {
		got := bids(c.w, c.c, c.x, c.n)
		for h := range got {
			if !(math.Abs(got[h]-c.want[h]) <= 1e-7) {
				t.Errorf("%s: bids = %v, want %v", c.name, got, c.want)
				break
			}
		}
	}
}

// TestNoBidIsBetter checks that the bids add up to X, and that moving any part of a bid to
// another host does not increase the utility. If the number of hosts is limited, only hosts
// with bids are considered.
func TestNoBidIsBetter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 8).Draw(t, "hosts")
		price := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-6, 1), rapid.SampledFrom([]float64{0.5, 1, 2}))
		weight := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0.01, 10), rapid.SampledFrom([]float64{1, 2}))
		w, c := make([]float64, size), make([]float64, size)
		for h := range w {
			w[h], c[h] = weight.Draw(t, "w"), price.Draw(t, "c")
		}
		x := rapid.Float64Range(1e-6, 10).Draw(t, "X")
		n := rapid.IntRange(1, size).Draw(t, "n")
		got := bids(w, c, x, n)

		sum, used, wanted := 0.0, 0, 0
		for h := range got {
			if got[h] < 0 || got[h] > 0 && w[h] == 0 {
				t.Fatalf("bid on host %d = %v", h, got[h])
			}
			sum += got[h]
			if got[h] > 0 {
				used++
			}
			if w[h] > 0 {
				wanted++
			}
		}
		if used > n {
			t.Fatalf("%d bids, want at most %d", used, n)
		}
		if wanted == 0 {
			x = 0
		}
		if math.Abs(sum-x) > 1e-12*(1+x) {
			t.Fatalf("bids add up to %v, want %v", sum, x)
		}

		best := worth(got, w, c)
		for from := range got {
			for to := range got {
				if from == to || got[to] == 0 && used == n {
					continue
				}
				for _, part := range []float64{1e-4, 0.01, 0.3, 1} {
					other := append([]float64(nil), got...)
					d := part * got[from]
					other[from] -= d
					other[to] += d
					if u := worth(other, w, c); u > best*(1+1e-12) {
						t.Fatalf("moving %v from host %d to %d is worth %v more", d, from, to, u-best)
					}
				}
			}
		}
	})
}

// TestBidsOfEqualWeights checks that with equal weights no other set of n hosts has a higher
// utility than the n cheapest hosts.
func TestBidsOfEqualWeights(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 8).Draw(t, "hosts")
		n := rapid.IntRange(1, size).Draw(t, "n")
		x := rapid.Float64Range(1e-3, 10).Draw(t, "X")
		w, c := make([]float64, size), make([]float64, size)
		for h := range w {
			w[h], c[h] = 1, rapid.Float64Range(0.01, 5).Draw(t, "c")
		}
		best := worth(bids(w, c, x, n), w, c)
		chosen := make([]float64, size) // weight of each host: 1 if it is chosen
		for set := range 1 << size {
			count := 0
			for h := range chosen {
				chosen[h] = float64(set >> h & 1)
				count += set >> h & 1
			}
			if count > n {
				continue
			}
			if u := worth(bids(chosen, c, x, size), chosen, c); u > best*(1+1e-12) {
				t.Fatalf("hosts %v are worth %v, more than %v", chosen, u, best)
			}
		}
	})
}

// TestBidsRefuse checks that bids panics on invalid numbers.
func TestBidsRefuse(t *testing.T) {
	t.Parallel()
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
		for _, arg := range [][3]float64{{bad, 1, 1}, {1, bad, 1}, {1, 1, bad}} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("w, c, X = %v: no panic", arg)
					}
				}()
				bids([]float64{arg[0]}, []float64{arg[1]}, arg[2], 1)
			}()
		}
	}
}

// TestBidsAllocateNothing checks that a solver that was used before allocates no memory.
func TestBidsAllocateNothing(t *testing.T) {
	var b bestResponse
	w, c, out := make([]float64, 15), make([]float64, 15), make([]float64, 15)
	for h := range w {
		w[h], c[h] = 1, float64(h*7%15)
	}
	if got := testing.AllocsPerRun(10, func() { b.bids(out, w, c, 1, 7) }); got != 0 {
		t.Errorf("%v allocations, want 0", got)
	}
}
