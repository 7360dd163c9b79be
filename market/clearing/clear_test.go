package clearing

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func orders(t *testing.T, lines ...string) []Order {
	t.Helper()
	var out []Order
	for i := 0; i < len(lines); i += 2 {
		rate, ok := new(big.Rat).SetString(lines[i+1])
		if !ok {
			t.Fatalf("rate %q", lines[i+1])
		}
		out = append(out, Order{lines[i], rate})
	}
	return out
}

// TestClear compares divisions with results computed by hand.
func TestClear(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		orders   []Order
		capacity int64
		want     []Award
	}{
		{"nobody", nil, 10, nil},
		{"in proportion", orders(t, "b", "3", "a", "1"), 8, []Award{{"a", 2}, {"b", 6}}},
		{"largest remainder", orders(t, "a", "47", "b", "16", "c", "15.8", "d", "12", "e", "6.1", "f", "3.1"), 10,
			[]Award{{"a", 5}, {"b", 2}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 0}}}, // the textbook example of Hare's quota
		{"ties by name", orders(t, "c", "1", "b", "1", "a", "1"), 2, []Award{{"a", 1}, {"b", 1}, {"c", 0}}},
		{"a rate of 0 gets nothing", orders(t, "a", "0", "b", "0.000000001"), 5, []Award{{"a", 0}, {"b", 5}}},
		{"all rates 0", orders(t, "a", "0", "b", "0"), 5, []Award{{"a", 0}, {"b", 0}}},
		{"nothing to divide", orders(t, "a", "1", "b", "2"), 0, []Award{{"a", 0}, {"b", 0}}},
		// 0.1 + 0.2 must equal 0.3: no remainder from float64 rounding may appear.
		{"exactly", orders(t, "a", "0.1", "b", "0.2", "c", "0.3"), 6, []Award{{"a", 1}, {"b", 2}, {"c", 3}}},
		{"up to an int64", orders(t, "a", "1", "b", "1"), 1<<63 - 1, []Award{{"a", 1 << 62}, {"b", 1<<62 - 1}}},
	} {
		got, err := Clear(c.orders, c.capacity)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: awards = %v, %v, want %v", c.name, got, err, c.want)
		}
	}
	for name, clear := range map[string]func() ([]Award, error){
		"negative capacity": func() ([]Award, error) { return Clear(orders(t, "a", "1"), -1) },
		"negative rate":     func() ([]Award, error) { return Clear(orders(t, "a", "-1"), 1) },
		"no rate":           func() ([]Award, error) { return Clear([]Order{{Bidder: "a"}}, 1) },
		"two orders":        func() ([]Award, error) { return Clear(orders(t, "a", "1", "b", "1", "a", "1"), 1) },
	} {
		if got, err := clear(); err == nil {
			t.Errorf("%s: awards = %v, want an error", name, got)
		}
	}
}

// TestClearIsFair checks the properties of a division: all units are divided, each bidder is
// within one unit of its exact proportion, a higher rate never receives less, and the order of
// the lines does not matter.
func TestClearIsFair(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rates := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 5), rapid.Int64Range(0, 1e18)), 1, 12).Draw(t, "rates")
		capacity := rapid.OneOf(rapid.Int64Range(0, 30), rapid.Int64Range(0, 1<<62)).Draw(t, "capacity")
		var in []Order
		total := new(big.Int)
		for i, r := range rates {
			in = append(in, Order{string(rune('a' + i)), big.NewRat(r, 1000)})
			total.Add(total, big.NewInt(r))
		}
		got, err := Clear(in, capacity)
		if err != nil {
			t.Fatal(err)
		}
		if total.Sign() == 0 {
			return
		}
		sum := int64(0)
		for i, a := range got {
			sum += a.Units
			// |units·total - capacity·rate| < total
			d := new(big.Int).Mul(big.NewInt(a.Units), total)
			d.Sub(d, new(big.Int).Mul(big.NewInt(capacity), big.NewInt(rates[i])))
			if d.CmpAbs(total) >= 0 {
				t.Fatalf("%s has %d units, a whole one from its proportion", a.Bidder, a.Units)
			}
			for j, b := range got {
				if rates[i] > rates[j] && a.Units < b.Units {
					t.Fatalf("%s bid more than %s and has %d units, less than %d", a.Bidder, b.Bidder, a.Units, b.Units)
				}
			}
		}
		if sum != capacity {
			t.Fatalf("%d units divided, want %d", sum, capacity)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		rng.Shuffle(len(in), func(i, j int) { in[i], in[j] = in[j], in[i] })
		if again, _ := Clear(in, capacity); !slices.Equal(again, got) {
			t.Fatalf("awards = %v in another order, want %v", again, got)
		}
	})
}
