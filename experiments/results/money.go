package results

import (
	"fmt"
	"strconv"

	"github.com/shopspring/decimal"
)

// Money is an amount in micro-dollars. It is decimal(18, 6) in Parquet and has six decimals
// in CSV. Its magnitude is below 10^18.
type Money int64

// maxMoney is the smallest magnitude that does not fit into decimal(18, 6).
const maxMoney Money = 1e18

// String returns m in dollars with six decimals, e.g. "-0.500000".
func (m Money) String() string { return string(m.append(nil)) }

// append appends the text of m.
func (m Money) append(b []byte) []byte {
	u := uint64(m)
	if m < 0 {
		b, u = append(b, '-'), -u
	}
	b = strconv.AppendUint(b, u/1e6, 10)
	whole := len(b)
	b = strconv.AppendUint(b, 1e6+u%1e6, 10) // the leading 1 becomes the point
	b[whole] = '.'
	return b
}

// parseMoney reads an amount with at most one sign, one decimal point and six decimals. It
// checks the length of the text first, to limit its work.
func parseMoney(s string) (Money, error) {
	if len(s) == 0 || len(s) > 32 {
		return 0, fmt.Errorf("found an amount of %d characters, want 1 to 32", len(s))
	}
	for _, c := range s {
		if (c < '0' || c > '9') && c != '-' && c != '.' {
			return 0, fmt.Errorf("found %q, want an amount in digits, such as 12.500000", s)
		}
	}
	d, err := decimal.NewFromString(s)
	if err != nil {
		return 0, fmt.Errorf("found %q, want an amount in digits, such as 12.500000", s)
	}
	if d = d.Shift(6); !d.IsInteger() {
		return 0, fmt.Errorf("found %s, want at most six decimals", s)
	}
	if d.Abs().Cmp(decimal.NewFromInt(int64(maxMoney))) >= 0 {
		return 0, fmt.Errorf("%s is beyond 10^12 dollars", s)
	}
	return Money(d.IntPart()), nil
}
