package bank

import (
	"errors"
	"fmt"
	"math"

	"bourse/bank/exact"

	"github.com/shopspring/decimal"
)

// These constants describe amounts and their text form.
const (
	places    = 6  // decimal places of a dollar in the ledger
	maxDigits = 32 // maximum length in bytes of the text of an amount
	perDollar = 1e6
)

// errRange means that a number is NaN or is too large for an amount.
var errRange = errors.New("amount out of range")

// An Amount is a sum of money, exact to the micro-dollar, between -9,223,372,036,854.775808
// and 9,223,372,036,854.775807 dollars. The zero value is no money. Amounts can be compared
// with ==.
type Amount struct{ micros int64 }

// Micros returns an amount of n micro-dollars, the unit in which a journal stores amounts.
func Micros(n int64) Amount { return Amount{n} }

// Micros returns a in micro-dollars.
func (a Amount) Micros() int64 { return a.micros }

// Dollars returns an amount of x dollars, rounded toward zero to the micro-dollar. Rounding
// down ensures that charges computed from a budget never add up to more than the budget.
//
// Dollars interprets x as its shortest decimal: 0.29 is 290,000 micro-dollars, although the
// float64 is slightly less. Dollars returns an error for NaN, infinities and numbers outside
// the range of an Amount.
func Dollars(x float64) (Amount, error) {
	return fromFloat(x, math.Trunc, decimal.Decimal.Truncate)
}

// Product returns the product of xs as an amount in dollars. The factors, such as dollars,
// seconds and fractions, must be at least 0. Each is interpreted as its shortest decimal, as
// in [Dollars]. The product is exact and is rounded once, toward zero to the micro-dollar.
//
// A product of float64s would be rounded before Dollars receives it: 0.0003 × 5 would give
// 1,499 micro-dollars, but Product returns 1,500.
func Product(xs ...float64) (Amount, error) {
	n, ok := exact.Trunc(places, xs, nil)
	if !ok {
		return Amount{}, fmt.Errorf("%v dollars: %w", xs, errRange)
	}
	return Amount{n}, nil
}

// Part returns a × num / den, rounded once, toward zero. The amount a and num must be at least
// 0, and den above 0. Both numbers are interpreted as their shortest decimals, as in
// [Dollars].
func (a Amount) Part(num, den float64) (Amount, error) {
	n, ok := exact.Trunc(0, []float64{float64(a.micros), num}, []float64{den})
	if !ok {
		return Amount{}, fmt.Errorf("%v × %v / %v: %w", a, num, den, errRange)
	}
	return Amount{n}, nil
}

// Nearest is like [Dollars] but rounds to the nearest micro-dollar, half to even. It converts
// an accrued sum into a charge (spec §8). Rounding to the nearest unit avoids a bias in the
// sum of many small charges.
func Nearest(x float64) (Amount, error) {
	// Except very close to a half, the rounding error of the product cannot change the result.
	if m := x * perDollar; 0 <= m && m < 1e12 { // the product is off by less than 2e-4
		n := int64(m)
		switch f := m - float64(n); {
		case f < 0.499:
			return Amount{n}, nil
		case f > 0.501:
			return Amount{n + 1}, nil
		}
	}
	return fromFloat(x, math.RoundToEven, decimal.Decimal.RoundBank)
}

// fromFloat rounds in float64 if the result certainly equals the result in the decimal type,
// which is nearly always the case. If not, it uses the decimal type.
func fromFloat(x float64, round func(float64) float64, exactly func(decimal.Decimal, int32) decimal.Decimal) (Amount, error) {
	if math.IsNaN(x) || math.Abs(x) > math.MaxInt64/perDollar {
		return Amount{}, fmt.Errorf("%v dollars: %w", x, errRange)
	}
	m := x * perDollar
	if math.Abs(m) < 1e12 { // the product is off by less than 2e-4
		// x is exactly the float64 of n micro-dollars, so no rounding is needed.
		if n := math.Round(m); n/perDollar == x {
			return Amount{int64(n)}, nil
		}
		// If m is far from integers and halves, the fraction of 2m is far from 0 and 1. The
		// error then affects neither rounding mode.
		if _, f := math.Modf(math.Abs(2 * m)); f > 1e-3 && f < 1-1e-3 {
			return Amount{int64(round(m))}, nil
		}
	}
	return fromDecimal(exactly(decimal.NewFromFloat(x), places))
}

// fromDecimal converts d dollars, which must have at most six decimals.
func fromDecimal(d decimal.Decimal) (Amount, error) {
	n := d.Shift(places).BigInt()
	if !n.IsInt64() {
		return Amount{}, fmt.Errorf("%s dollars: %w", d, errRange)
	}
	return Amount{n.Int64()}, nil
}

// Parse parses dollars: an optional minus sign, digits without leading zeros, and optionally a
// point with at most six decimals. The text has at most 32 bytes. There is no exponent, so a short
// text cannot represent a long number.
func Parse(s string) (Amount, error) {
	if len(s) > maxDigits {
		return Amount{}, fmt.Errorf("amount %q…: longer than %d bytes", s[:maxDigits], maxDigits)
	}
	// Check the form before parsing, because the decimal package would accept exponents.
	if !isAmount(s) {
		return Amount{}, fmt.Errorf("amount %q: want dollars with at most %d decimals, such as 12.5", s, places)
	}
	d, err := decimal.NewFromString(s)
	if err != nil {
		return Amount{}, fmt.Errorf("amount %q: %w", s, err)
	}
	return fromDecimal(d)
}

// isAmount reports whether s matches -?(0|[1-9][0-9]*)(\.[0-9]{1,6})?
func isAmount(s string) bool {
	if s != "" && s[0] == '-' {
		s = s[1:]
	}
	whole := digits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	s = s[whole:]
	if s == "" {
		return true
	}
	n := digits(s[1:])
	return s[0] == '.' && 1 <= n && n <= places && n == len(s)-1
}

// digits returns the number of digits at the start of s.
func digits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}

// Add returns a + b, or an error if the sum is out of range.
func (a Amount) Add(b Amount) (Amount, error) {
	c := a.micros + b.micros
	// The result wrapped around if it changed in the wrong direction.
	if (c > a.micros) != (b.micros > 0) {
		return Amount{}, fmt.Errorf("%v + %v: %w", a, b, errRange)
	}
	return Amount{c}, nil
}

// Sub returns a - b, or an error if the difference is out of range.
func (a Amount) Sub(b Amount) (Amount, error) {
	c := a.micros - b.micros
	if (c < a.micros) != (b.micros > 0) {
		return Amount{}, fmt.Errorf("%v - %v: %w", a, b, errRange)
	}
	return Amount{c}, nil
}

// Cmp returns -1 if a < b, 0 if a == b, and +1 if a > b.
func (a Amount) Cmp(b Amount) int {
	switch {
	case a.micros < b.micros:
		return -1
	case a.micros > b.micros:
		return +1
	}
	return 0
}

// Sign returns -1, 0 or +1 for a negative, zero or positive amount.
func (a Amount) Sign() int { return a.Cmp(Amount{}) }

// Float64 returns the nearest float64, in dollars, for computing rates and utilities.
func (a Amount) Float64() float64 { return float64(a.micros) / perDollar }

// String returns the dollars with all six decimals, such as "12.500000".
func (a Amount) String() string { return decimal.New(a.micros, -places).StringFixed(places) }

// MarshalText returns the result of [Amount.String].
func (a Amount) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText parses text as [Parse] does.
func (a *Amount) UnmarshalText(b []byte) error {
	// Do not copy more of a long text than Parse needs to reject the text.
	if len(b) > maxDigits {
		b = b[:maxDigits+1]
	}
	v, err := Parse(string(b))
	if err != nil {
		return err
	}
	*a = v
	return nil
}
