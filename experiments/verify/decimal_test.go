package verify

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// TestDecimal checks that what decimal reads is what strconv.ParseFloat reads there, to
// the last bit: numbers as programs write them, with other digits, halfway between two
// float64, and with a byte changed; and which it leaves.
func TestDecimal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"0": 1, "7": 1, "0.5": 3, "0.000000": 8, "10}": 2, "1.5,2": 3, "9999999999999999999": 19, "9.999999999999999999": 20,
		"0.000000000000000001": 20, "188.43039735095067": 18, "18446744073709551616": 0,
		"0.1234567890123456789": 21, "0.12345678901234567890": 0, "10.000000000000000000": 0, "00.1": 0,
		"": 0, ".": 0, ".5": 0, "5.": 0, "5.]": 0, "-1": 0, "+1": 0, "1e5": 0, "1.5E5": 0, "1.5e+": 0, "1.5e": 0, "1.5e+1": 6, "1.5e+01,": 7, "1.5E+01": 7, "1.5e+2": 0, "1.5e-1": 0,
		"1.5e+001": 0, "1e+0": 4, "1.536446340000001e+06": 21, "1.5e1": 0, "01": 0, "00.5": 0, "1..5": 0, "1.5.": 3, "1_0": 1, "a": 0,
	} {
		if _, n := decimal([]byte(text)); n != want {
			t.Errorf("decimal takes %d bytes of %q, want %d", n, text, want)
		}
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	read := 0
	for range 300000 {
		var text string
		switch x := math.Exp(40*rng.Float64() - 20); rng.IntN(5) {
		case 0:
			text = strconv.FormatFloat(x, 'f', -1, 64)
		case 1:
			text = strconv.FormatFloat(x, 'f', rng.IntN(20), 64)
		case 2:
			text = strconv.FormatFloat(x, 'e', -1, 64)
		case 3: // between two of 53 bits
			half := rng.Uint64N(1<<63)>>rng.IntN(10) | 1<<62
			half = half&^(1<<10-1) | 1<<9 + uint64(rng.IntN(3)) - 1
			text = strconv.FormatUint(half, 10)
		default:
			places := rng.IntN(11)
			m := (1<<53 + 2*rng.Uint64N(1<<52) + 1) / 2 // half a unit more than a float64 has, over a power of two
			text = strconv.FormatFloat(float64(m)/float64(int64(1)<<places), 'f', -1, 64)
		}
		if rng.IntN(4) == 0 {
			at := rng.IntN(len(text))
			text = text[:at] + string("0123456789.eE+-,}_ "[rng.IntN(19)]) + text[at+1:]
		}
		x, n := decimal([]byte(text))
		if n == 0 {
			continue
		}
		read++
		want, err := strconv.ParseFloat(text[:n], 64)
		if err != nil || math.Float64bits(x) != math.Float64bits(want) || n < len(text) && strings.ContainsAny(text[n:n+1], "0123456789") {
			t.Fatalf("decimal(%q) = %v, %d, want %v, %v", text, x, n, want, err)
		}
	}
	if read < 120000 {
		t.Errorf("%d numbers were read, want more", read)
	}
}

// FuzzDecimal checks that what decimal reads is what strconv.ParseFloat reads there.
func FuzzDecimal(f *testing.F) {
	for _, text := range []string{"0.1234567890123456789", "18446744073709551616", "1.5e+01,", "9007199254740993", "00.1", "-1", ""} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		x, n := decimal(text)
		if n == 0 {
			return
		}
		if want, err := strconv.ParseFloat(string(text[:n]), 64); err != nil || math.Float64bits(x) != math.Float64bits(want) {
			t.Errorf("decimal(%q) = %v, %d, want %v, %v", text, x, n, want, err)
		}
	})
}

// TestRatio checks quotients that lie in the middle between two float64, or a moment off.
func TestRatio(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b uint64
		want float64
	}{
		{0, 10, 0}, {1, 10, 0.1}, {3, 1, 3}, {math.MaxUint64, 1, 1 << 64}, {math.MaxUint64, math.MaxUint64, 1},
		{1<<53 + 1, 1, 1 << 53}, {1<<53 + 3, 1, 1<<53 + 4}, {1<<54 + 2, 2, 1 << 53}, {1<<54 + 3, 2, 1<<53 + 2},
		{10 * (1<<53 + 1), 10, 1 << 53}, {10*(1<<53+1) + 1, 10, 1<<53 + 2}, {10*(1<<53+1) - 1, 10, 1 << 53},
	} {
		if got := ratio(c.a, c.b); got != c.want {
			t.Errorf("ratio(%d, %d) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// BenchmarkDecimal reports what a number takes, and what it takes strconv.
func BenchmarkDecimal(b *testing.B) {
	text := []byte("188.43039735095067")
	b.Run("decimal", func(b *testing.B) {
		for b.Loop() {
			decimal(text)
		}
	})
	b.Run("strconv", func(b *testing.B) {
		for b.Loop() {
			if _, err := strconv.ParseFloat(string(text), 64); err != nil {
				b.Fatal(err)
			}
		}
	})
}
