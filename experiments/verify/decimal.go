package verify

import (
	"math"
	"math/bits"
)

// tens are the powers of ten that a uint64 has room for.
var tens = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// decimal returns the number at the front of b, the nearest float64, and how many bytes it
// takes. It reads what most numbers of tables and notes are, up to 19 digits, some of them
// after a point, which e+ may move right as far as there are digits, as strconv.ParseFloat
// does, in a third of the time. Of what is more than that, or otherwise, or none, it returns
// 0 bytes.
func decimal(b []byte) (x float64, n int) {
	all, n := digits(b, 0)
	whole, places := n, 0
	if n < len(b) && b[n] == '.' {
		part, more := digits(b[n+1:], all)
		if more == 0 {
			return 0, 0
		}
		all, places, n = part, more, n+1+more
	}
	if whole == 0 || whole > 1 && b[0] == '0' {
		return 0, 0
	}
	if b[0] == '0' {
		whole = 0 // it takes no room
	}
	if whole+places >= len(tens) {
		return 0, 0
	}
	if n < len(b) && b[n]|0x20 == 'e' {
		if n+1 == len(b) || b[n+1] != '+' {
			return 0, 0
		}
		right, more := digits(b[n+2:], 0)
		if more == 0 || more > 2 || int(right) > places {
			return 0, 0
		}
		places, n = places-int(right), n+2+more
	}
	return ratio(all, tens[places]), n
}

// digits returns what the digits at the front of b add to those before, and how many they
// are.
func digits[S string | []byte](b S, before uint64) (all uint64, n int) {
	for all = before; n < len(b) && b[n]-'0' <= 9; n++ {
		all = 10*all + uint64(b[n]-'0')
	}
	return all, n
}

// ratio returns the float64 nearest to a / b, the even one of two.
func ratio(a, b uint64) float64 {
	if most := uint64(1 << 53); a <= most && b <= most { // a float64 each
		return float64(a) / float64(b)
	}
	// With the highest bit of both set, the quotient has 63 bits or 64. Those below the
	// 53 of a float64 count if they are half a unit or more, so that what is left over
	// may be written as the lowest of them; to convert is to round.
	up, down := bits.LeadingZeros64(a), bits.LeadingZeros64(b)
	a, b = a<<up, b<<down
	q, rest := bits.Div64(a>>1, a<<63, b)
	if rest > 0 {
		q |= 1
	}
	return float64(q) * math.Float64frombits(uint64(1023-63+down-up)<<52) // 2^(down-up-63)
}
