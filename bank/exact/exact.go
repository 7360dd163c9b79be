// Package exact multiplies and divides decimal numbers exactly and rounds once.
//
// Package bank uses it to compute amounts. A float64 represents its shortest decimal. This is
// the decimal with the fewest digits that parses to the float64: 0.0003 represents 3/10000,
// although the float64 is slightly smaller. If the number was parsed from text with at most 15
// significant digits, its shortest decimal is the decimal in the text. A random or measured
// number also represents its shortest decimal.
//
// Therefore 0.0003 × 5 is 0.0015 for any order of the factors, whereas the product of the
// float64s is 0.0014999999999999998. An auditor who computes the same charge in decimal
// arithmetic obtains the same result.
//
// The package is independent of the meaning of the numbers.
package exact

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// Trunc returns the product of num divided by the product of den, in units of 10^-places,
// rounded toward zero. The slice den may be empty. The numbers in num must be at least 0, and
// those in den above 0. Trunc returns false if a number is out of range or if the result does
// not fit in an int64. For example, Trunc(6, {0.0003, 5}, nil) returns 1500.
func Trunc(places int, num, den []float64) (n int64, ok bool) {
	// x is the result in float64, and least is the smallest intermediate result.
	x, least := 1.0, 1.0
	for _, f := range num {
		// In float64, each number and each operation has a relative error of at most 2^-53,
		// except near 0, where float64s have fewer digits. If rounding errors cannot change
		// the result, the fast computation is sufficient.
		if x *= f; !(f >= 0 && f <= math.MaxFloat64) {
			return 0, false
		}
		least = min(least, f, x)
	}
	for _, f := range den {
		if x /= f; !(f > 0 && f <= math.MaxFloat64) {
			return 0, false
		}
		least = min(least, f, x)
	}
	if x *= math.Pow10(places); x < 1<<52 && least > 0x1p-1000 {
		off := x * float64(len(num)+len(den)+2) * 0x1p-51
		if n := math.Trunc(x); x-n > off && n+1-x > off {
			return int64(n), true
		}
	}
	// If rounding errors can change the result, compute with integers: m × 10^e is the decimal
	// of a product, so the quotient is (over.m / under.m) × 10^e. The method small handles most
	// cases in 64 bits, and big.Int handles the others.
	over, under, e := product(num), product(den), places
	e += over.e - under.e
	if q, ok := over.m.small(under.m, e); ok {
		return int64(q), q <= math.MaxInt64
	}
	m, d := over.m.big(), under.m.big()
	// A negative power of ten multiplies the denominator, so that all numbers stay integers.
	if e < 0 {
		d.Mul(d, ten(-e))
	} else {
		m.Mul(m, ten(e))
	}
	m.Quo(m, d)
	return m.Int64(), m.IsInt64()
}

// Product returns the float64 nearest to the exact product of xs, which must be finite and at
// least 0.
func Product(xs ...float64) float64 {
	p := product(xs)
	// If both operands are exact float64s, the following division or multiplication is rounded
	// only once.
	if p.m.large == nil && p.m.n < 1<<53 && -22 <= p.e && p.e <= 22 {
		if x := float64(p.m.n); p.e < 0 {
			return x / math.Pow10(-p.e)
		} else if x < 1<<53/math.Pow10(p.e) {
			return x * math.Pow10(p.e)
		}
	}
	// Otherwise, parsing the decimal text gives the correctly rounded float64.
	x, err := strconv.ParseFloat(p.m.big().String()+"e"+strconv.Itoa(p.e), 64)
	if err != nil && !math.IsInf(x, 0) {
		panic("exact: " + err.Error())
	}
	return x
}

// Quotient returns the float64 nearest to the exact product of xs divided by d. The numbers
// must be finite, xs at least 0 and d above 0.
func Quotient(d float64, xs ...float64) float64 {
	over, under := product(xs), product([]float64{d})
	// The quotient is a rational number, which Float64 rounds only once.
	q := new(big.Rat).SetFrac(over.m.big(), under.m.big())
	power := new(big.Rat).SetInt(ten(max(over.e-under.e, under.e-over.e)))
	if over.e < under.e {
		power.Inv(power)
	}
	x, _ := q.Mul(q, power).Float64()
	return x
}

// Round returns x rounded to the given number of decimal places, half to even.
func Round(x float64, places int) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', max(0, places), 64), 64)
	if err != nil {
		panic("exact: " + err.Error())
	}
	return rounded
}

// A decimal is m × 10^e.
type decimal struct {
	m whole
	e int
}

// product returns the exact product of the decimals of xs.
func product(xs []float64) decimal {
	p := decimal{m: whole{n: 1}}
	for _, x := range xs {
		m, e := parse(x)
		p.m, p.e = p.m.times(m), p.e+e
	}
	return p
}

// parse returns the shortest decimal of x as m × 10^e. The argument x must be finite and at
// least 0.
func parse(x float64) (m uint64, e int) {
	// An integer below 2^53 is its own shortest decimal and needs no text.
	if n := uint64(x); x < 1<<53 && float64(n) == x {
		return n, 0
	}
	var buf [32]byte
	// FormatFloat with precision -1 returns the shortest decimal that parses to x.
	text := strconv.AppendFloat(buf[:0], x, 'e', -1, 64) // d.ddde±xx
	// Collect the digits without the point, so that the exponent refers to the last digit. A
	// shortest decimal has at most 17 digits, so m fits in a uint64.
	for i, c := range text {
		switch {
		case c == 'e':
			exponent, err := strconv.Atoi(string(text[i+1:]))
			if err != nil {
				panic("exact: " + err.Error())
			}
			if i > 2 {
				e = exponent - (i - 2) // subtract the number of digits after the point
			} else {
				e = exponent
			}
			return m, e
		case c != '.':
			m = 10*m + uint64(c-'0')
		}
	}
	panic("exact: " + string(text) + " has no exponent")
}

// A whole is an integer of at least 0. Its value is large or, if large is nil, n. Most
// products fit in 64 bits, which avoids allocating a big.Int.
type whole struct {
	n     uint64
	large *big.Int
}

// big returns w as a big.Int, which may share memory with w.
func (w whole) big() *big.Int {
	if w.large != nil {
		return w.large
	}
	return new(big.Int).SetUint64(w.n)
}

// times returns w × m.
func (w whole) times(m uint64) whole {
	if hi, lo := bits.Mul64(w.n, m); w.large == nil && hi == 0 {
		return whole{n: lo}
	}
	return whole{large: new(big.Int).Mul(w.big(), new(big.Int).SetUint64(m))}
}

// small returns w × 10^e / d, rounded toward zero, if all intermediate results fit in 64 bits.
func (w whole) small(d whole, e int) (uint64, bool) {
	const most = 19 // exponent of the largest power of ten below 2^64
	if w.large != nil || d.large != nil || e < -most || e > most {
		return 0, false
	}
	power := uint64(1)
	for range max(e, -e) {
		power *= 10
	}
	// A negative power multiplies the denominator. If the product overflows 64 bits, the result
	// is not valid.
	if e < 0 {
		hi, lo := bits.Mul64(d.n, power)
		return w.n / max(1, lo), hi == 0
	}
	hi, lo := bits.Mul64(w.n, power)
	// Div64 requires that the quotient fits in 64 bits, which is true if hi < d.n.
	if hi >= d.n {
		return 0, false
	}
	q, _ := bits.Div64(hi, lo, d.n)
	return q, true
}

// ten returns 10^e.
func ten(e int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(e)), nil) }
