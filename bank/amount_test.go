package bank

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"
)

// TestParse checks the grammar that Parse documents, case by case.
func TestParse(t *testing.T) {
	t.Parallel()
	good := map[string]int64{
		"0": 0, "-0": 0, "1": 1e6, "12.5": 125e5, "0.000001": 1, "-3.25": -325e4,
		"9223372036854.775807": math.MaxInt64, "-9223372036854.775808": math.MinInt64,
	}
	for s, want := range good {
		if got, err := Parse(s); err != nil || got.Micros() != want {
			t.Errorf("Parse(%q) = %v, %v, want %d micro-dollars", s, got.Micros(), err, want)
		}
	}
	for _, s := range []string{
		"", "-", ".", "1.", ".5", "+1", "01", "--1", "1.2.3", "0.0000001", "1e9", "1e1000000000", "NaN", "Inf", "0x10", "1_000",
		" 1", "1 ", "1,5", "١", "9223372036854.775808", "-9223372036854.775809", strings.Repeat("9", 32), strings.Repeat("1", 1<<20),
	} {
		if got, err := Parse(s); err == nil {
			t.Errorf("Parse(%.40q) = %v, want an error", s, got)
		}
	}
}

// TestDollars checks both ways of rounding at numbers for which the float64 and the decimal
// differ, and that values that are not money are rejected.
func TestDollars(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		x               float64
		toward, nearest int64
	}{
		{0, 0, 0},
		{math.Copysign(0, -1), 0, 0},
		{0.29, 290000, 290000}, // 0.28999999999999998 in binary
		{0.1 + 0.2, 300000, 300000},
		{1e-7, 0, 0},
		{-1.9999999, -1999999, -2000000},
		{0.0000005, 0, 0},             // A half rounds to the even number.
		{0.0000015, 1, 2},             // A half rounds to the even number.
		{0.0000025, 2, 2},             // A half rounds to the even number.
		{1.0000005, 1000000, 1000000}, // Its shortest decimal form ends in a half.
		{9e12, 9e18, 9e18},
		{123456789.123456789, 123456789123456, 123456789123457},
		{math.SmallestNonzeroFloat64, 0, 0},
	} {
		if a, err := Dollars(c.x); err != nil || a.Micros() != c.toward {
			t.Errorf("Dollars(%v) = %d, %v, want %d", c.x, a.Micros(), err, c.toward)
		}
		if a, err := Nearest(c.x); err != nil || a.Micros() != c.nearest {
			t.Errorf("Nearest(%v) = %d, %v, want %d", c.x, a.Micros(), err, c.nearest)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 1e13, -1e13} {
		if a, err := Dollars(x); !errors.Is(err, errRange) {
			t.Errorf("Dollars(%v) = %v, %v, want errRange", x, a, err)
		}
	}
}

// TestRounding checks that the fast path of Dollars and Nearest gives the same result as the
// decimal library for the shortest decimal of a float64.
func TestRounding(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.Int64Range(-1e15, 1e15), rapid.Int64Range(-1e12, 1e12)).Draw(t, "n")
		x := float64(n) / rapid.SampledFrom([]float64{1, 1e3, 1e6, 2e6, 4e6, 1e7, 3, 7e6, 1e12}).Draw(t, "d")
		for range rapid.IntRange(0, 2).Draw(t, "ulps") {
			x = math.Nextafter(x, 0)
		}
		d := decimal.NewFromFloat(x)
		toward, err1 := Dollars(x)
		nearest, err2 := Nearest(x)
		if big.NewInt(math.MaxInt64).Cmp(d.Shift(6).Abs().BigInt()) <= 0 {
			return
		}
		if want := d.Truncate(6).Shift(6).IntPart(); err1 != nil || toward.Micros() != want {
			t.Fatalf("Dollars(%v) = %d, %v, want %d", x, toward.Micros(), err1, want)
		}
		if want := d.RoundBank(6).Shift(6).IntPart(); err2 != nil || nearest.Micros() != want {
			t.Fatalf("Nearest(%v) = %d, %v, want %d", x, nearest.Micros(), err2, want)
		}
	})
}

// TestArithmetic checks against unbounded integers that Add and Sub are exact or return an
// error, and that text parses back to the same amount.
func TestArithmetic(t *testing.T) {
	t.Parallel()
	edge := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MinInt64}))
	rapid.Check(t, func(t *rapid.T) {
		a, b := Micros(edge.Draw(t, "a")), Micros(edge.Draw(t, "b"))
		check := func(name string, got Amount, err error, want *big.Int) {
			if want.IsInt64() != (err == nil) || err == nil && want.Int64() != got.Micros() {
				t.Fatalf("%v %s %v = %v, %v, want %v micro-dollars", a, name, b, got, err, want)
			}
		}
		x, y := big.NewInt(a.Micros()), big.NewInt(b.Micros())
		sum, err := a.Add(b)
		check("+", sum, err, new(big.Int).Add(x, y))
		diff, err := a.Sub(b)
		check("-", diff, err, new(big.Int).Sub(x, y))
		if got := a.Cmp(b); got != x.Cmp(y) {
			t.Fatalf("%v cmp %v = %d", a, b, got)
		}
		text, _ := a.MarshalText()
		var back Amount
		if err := back.UnmarshalText(text); err != nil || back != a {
			t.Fatalf("%s read back is %v, %v", text, back, err)
		}
	})
}

// FuzzParse checks that String of every accepted amount parses to the same amount, and that
// Parse agrees with the decimal library.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"0", "12.5", "-0.000001", "1e9", "9223372036854.775807", "00", "1."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := Parse(s)
		if err != nil {
			return
		}
		if b, err := Parse(a.String()); err != nil || a != b {
			t.Errorf("Parse(%q) = %v, read again %v, %v", s, a, b, err)
		}
		if d, err := decimal.NewFromString(s); err != nil || !d.Equal(decimal.New(a.Micros(), -6)) {
			t.Errorf("Parse(%q) = %v, decimal %v, %v", s, a, d, err)
		}
	})
}

// BenchmarkParse compares the time to reject a short text for a huge number with the time to
// parse a valid amount.
func BenchmarkParse(b *testing.B) {
	for _, s := range []string{"12.5", "1e1000000000"} {
		b.Run(s, func(b *testing.B) {
			for b.Loop() {
				Parse(s)
			}
		})
	}
}

// BenchmarkDollars measures the fast path and, for a value at a half, the path through
// decimals.
func BenchmarkDollars(b *testing.B) {
	for name, x := range map[string]float64{"quick": 1.23456789, "decimal": 0.0000015} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Nearest(x)
			}
		})
	}
}

// TestProduct checks that products and parts equal those of decimals, rounded once toward zero,
// and that a result out of the range of an Amount is an error.
func TestProduct(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		factors []float64
		want    int64
	}{
		{[]float64{0.0003, 5}, 1500},
		{[]float64{0.0000019}, 1},
		{[]float64{1e6, 9e6}, 9e18},
	} {
		if got, err := Product(c.factors...); err != nil || got != Micros(c.want) {
			t.Errorf("Product(%v) = %v, %v, want %v", c.factors, got, err, Micros(c.want))
		}
	}
	for _, factors := range [][]float64{{1e7, 1e6}, {-1, 1}, {math.NaN()}, {math.Inf(1), 1}} {
		if got, err := Product(factors...); !errors.Is(err, errRange) {
			t.Errorf("Product(%v) = %v, %v, want %v", factors, got, err, errRange)
		}
	}
	if got, err := Micros(3e6).Part(1, 3); err != nil || got != Micros(1e6) {
		t.Errorf("a third of 3 = %v, %v, want 1", got, err)
	}
	if got, err := Micros(1).Part(1, 0); !errors.Is(err, errRange) {
		t.Errorf("Part(1, 0) = %v, %v, want %v", got, err, errRange)
	}
}
