package exact

import (
	"math"
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// rat returns the shortest decimal of x.
func rat(x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	if !ok {
		panic(x)
	}
	return r
}

// numbers draws short decimals as people write them, measured numbers, and extreme numbers.
func numbers() *rapid.Generator[float64] {
	written := rapid.Custom(func(t *rapid.T) float64 {
		n := rapid.Int64Range(1, 1e9).Draw(t, "digits")
		x, err := strconv.ParseFloat(strconv.FormatInt(n, 10)+"e"+strconv.Itoa(rapid.IntRange(-12, 3).Draw(t, "e")), 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	})
	return rapid.OneOf(written, rapid.Float64Range(1e-9, 1e6), rapid.SampledFrom([]float64{math.MaxFloat64, 5e-324, 1, 0.1, 1 << 53, 1e22, 0.0003}))
}

// TestTrunc checks that quotients of products are exact and rounded once, toward zero.
func TestTrunc(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		num := rapid.SliceOfN(numbers(), 0, 4).Draw(t, "num")
		den := rapid.SliceOfN(numbers(), 0, 3).Draw(t, "den")
		places := rapid.IntRange(0, 9).Draw(t, "places")
		want := rat(math.Pow10(places))
		for _, x := range num {
			want.Mul(want, rat(x))
		}
		for _, x := range den {
			want.Quo(want, rat(x))
		}
		whole := new(big.Int).Quo(want.Num(), want.Denom())
		got, ok := Trunc(places, num, den)
		if ok != whole.IsInt64() || ok && got != whole.Int64() {
			t.Fatalf("Trunc(%d, %v, %v) = %d, %v, want %v", places, num, den, got, ok, whole)
		}
		if nearest, _ := new(big.Rat).Quo(want, rat(math.Pow10(places))).Float64(); len(den) == 0 && Product(num...) != nearest {
			t.Fatalf("Product(%v) = %v, want %v", num, Product(num...), nearest)
		}
	})
}

// TestTruncWritten checks products and quotients whose float64 is slightly too small.
func TestTruncWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		num, den []float64
		want     int64
	}{
		{[]float64{0.0003, 5}, nil, 1500},
		{[]float64{0.000001, 100}, nil, 100},
		{[]float64{1.1, 1.1}, nil, 1210000},
		{[]float64{0.29}, nil, 290000},
		{[]float64{4.35, 100}, nil, 435000000},
		{[]float64{0.3}, []float64{3}, 100000},
		{[]float64{3, 1}, []float64{3}, 1000000},
		{[]float64{2, 1}, []float64{3}, 666666},
		{[]float64{0.0000019, 1}, nil, 1},
		{[]float64{0, 5e-324}, nil, 0},
	} {
		if got, ok := Trunc(6, c.num, c.den); !ok || got != c.want {
			t.Errorf("Trunc(6, %v, %v) = %d, %v, want %d", c.num, c.den, got, ok, c.want)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), -1, -5e-324} {
		if n, ok := Trunc(6, []float64{1, x}, nil); ok {
			t.Errorf("Trunc of %v = %d, want none", x, n)
		}
		if n, ok := Trunc(6, []float64{1}, []float64{x}); ok {
			t.Errorf("Trunc over %v = %d, want none", x, n)
		}
	}
	if n, ok := Trunc(6, []float64{1}, []float64{0}); ok {
		t.Errorf("Trunc over 0 = %d, want none", n)
	}
}

// TestQuotient checks that a quotient is computed from the decimals: 0.3 divided by 3 is 0.1.
func TestQuotient(t *testing.T) {
	t.Parallel()
	if got := Quotient(3, 0.3); got != 0.1 {
		t.Errorf("0.3 / 3 = %v, want 0.1", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		d, a, b := numbers().Draw(t, "d"), numbers().Draw(t, "a"), numbers().Draw(t, "b")
		q := new(big.Rat).Mul(rat(a), rat(b))
		if want, _ := q.Quo(q, rat(d)).Float64(); Quotient(d, a, b) != want {
			t.Fatalf("%v × %v / %v = %v, want %v", a, b, d, Quotient(d, a, b), want)
		}
	})
}

// TestRound checks that rounding restores a decimal that a float64 only approximates.
func TestRound(t *testing.T) {
	t.Parallel()
	if got := Round(115.1-110.1, 12); got != 5 {
		t.Errorf("115.1 - 110.1 = %v, want 5", got)
	}
	if got := Round(2.5, 0); got != 2 {
		t.Errorf("2.5 to no place = %v, want 2", got)
	}
}

func BenchmarkTrunc(b *testing.B) {
	for name, xs := range map[string][]float64{"exact": {0.0003, 5}, "drawn": {0.0003, 5.123456789}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Trunc(6, xs, nil)
			}
		})
	}
}
