package bank

import (
	"errors"
	"fmt"
	"math"

	"bourse/bank/exact"

	"github.com/shopspring/decimal"
)

const (
	places    = 6  // decimal places of a dollar that are booked
	maxDigits = 32 // bytes of text that may become an amount
	perDollar = 1e6
)

// errRange says that a number is too large to be money, or none.
var errRange = errors.New("amount out of range")

// An Amount is a sum of money, exact to the micro-dollar, between
// -9,223,372,036,854.775808 and 9,223,372,036,854.775807 dollars. The zero value
// is no money. Amounts may be compared with ==.
type Amount struct{ micros int64 }

// Micros returns n micro-dollars, as a journal stores them.
func Micros(n int64) Amount { return Amount{n} }

// Micros returns a in micro-dollars.
func (a Amount) Micros() int64 { return a.micros }

// Dollars returns x dollars as money, rounded toward zero at the micro-dollar, so
// that charges computed from a budget never sum to more than it. x stands for
// its shortest decimal: 0.29 is 290,000 micro-dollars, though the float64 is a
// little less. It returns an error for NaN, the infinities, and
// what an Amount cannot hold.
func Dollars(x float64) (Amount, error) {
	return fromFloat(x, math.Trunc, decimal.Decimal.Truncate)
}

// Product returns the product of xs dollars, seconds, parts and so on, which are 0 or more,
// as money. Each stands for its shortest decimal, as in [Dollars]; the product is exact, and
// is rounded once, toward zero at the micro-dollar. A product of float64s is rounded before
// Dollars sees it: 0.0003 × 5 would come to 1,499 micro-dollars, and is 1,500.
func Product(xs ...float64) (Amount, error) {
	n, ok := exact.Trunc(places, xs, nil)
	if !ok {
		return Amount{}, fmt.Errorf("%v dollars: %w", xs, errRange)
	}
	return Amount{n}, nil
}

// Part returns num / den of a, which is 0 or more, rounded once, toward zero. Both numbers
// stand for their shortest decimals.
func (a Amount) Part(num, den float64) (Amount, error) {
	n, ok := exact.Trunc(0, []float64{float64(a.micros), num}, []float64{den})
	if !ok {
		return Amount{}, fmt.Errorf("%v × %v / %v: %w", a, num, den, errRange)
	}
	return Amount{n}, nil
}

// Nearest is [Dollars] rounded to the nearest micro-dollar, half to even: what
// has accrued becomes a charge (spec §8).
func Nearest(x float64) (Amount, error) {
	if m := x * perDollar; 0 <= m && m < 1e12 { // off by less than 2e-4
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

// fromFloat rounds in float64 where that is certain to agree with the decimal,
// which is nearly always, and asks the decimal otherwise.
func fromFloat(x float64, round func(float64) float64, exactly func(decimal.Decimal, int32) decimal.Decimal) (Amount, error) {
	if math.IsNaN(x) || math.Abs(x) > math.MaxInt64/perDollar {
		return Amount{}, fmt.Errorf("%v dollars: %w", x, errRange)
	}
	m := x * perDollar
	if math.Abs(m) < 1e12 { // the product is off by less than 2e-4
		if n := math.Round(m); n/perDollar == x {
			return Amount{int64(n)}, nil
		}
		if _, f := math.Modf(math.Abs(2 * m)); f > 1e-3 && f < 1-1e-3 {
			return Amount{int64(round(m))}, nil
		}
	}
	return fromDecimal(exactly(decimal.NewFromFloat(x), places))
}

func fromDecimal(d decimal.Decimal) (Amount, error) {
	n := d.Shift(places).BigInt()
	if !n.IsInt64() {
		return Amount{}, fmt.Errorf("%s dollars: %w", d, errRange)
	}
	return Amount{n.Int64()}, nil
}

// Parse reads dollars: an optional minus, digits without leading zeros, and at
// most six decimals after a point; 32 bytes in all. There is no exponent, so
// that a short text cannot stand for a long number.
func Parse(s string) (Amount, error) {
	if len(s) > maxDigits {
		return Amount{}, fmt.Errorf("amount %q…: longer than %d bytes", s[:maxDigits], maxDigits)
	}
	if !isAmount(s) {
		return Amount{}, fmt.Errorf("amount %q: want dollars with at most %d decimals, such as 12.5", s, places)
	}
	d, err := decimal.NewFromString(s)
	if err != nil {
		return Amount{}, fmt.Errorf("amount %q: %w", s, err)
	}
	return fromDecimal(d)
}

// isAmount tells whether s is -?(0|[1-9][0-9]*)(\.[0-9]{1,6})?
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

// digits returns how many digits s begins with.
func digits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}

// Add returns a + b, or an error if that is out of range.
func (a Amount) Add(b Amount) (Amount, error) {
	c := a.micros + b.micros
	if (c > a.micros) != (b.micros > 0) {
		return Amount{}, fmt.Errorf("%v + %v: %w", a, b, errRange)
	}
	return Amount{c}, nil
}

// Sub returns a - b, or an error if that is out of range.
func (a Amount) Sub(b Amount) (Amount, error) {
	c := a.micros - b.micros
	if (c < a.micros) != (b.micros > 0) {
		return Amount{}, fmt.Errorf("%v - %v: %w", a, b, errRange)
	}
	return Amount{c}, nil
}

// Cmp returns -1, 0 or +1 as a is less than, equal to or greater than b.
func (a Amount) Cmp(b Amount) int {
	switch {
	case a.micros < b.micros:
		return -1
	case a.micros > b.micros:
		return +1
	}
	return 0
}

// Sign returns -1, 0 or +1.
func (a Amount) Sign() int { return a.Cmp(Amount{}) }

// Float64 returns the nearest float64, for computing rates and utilities.
func (a Amount) Float64() float64 { return float64(a.micros) / perDollar }

// String returns the dollars with all six decimals: "12.500000".
func (a Amount) String() string { return decimal.New(a.micros, -places).StringFixed(places) }

// MarshalText returns what [Amount.String] does.
func (a Amount) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what [Parse] does.
func (a *Amount) UnmarshalText(b []byte) error {
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
