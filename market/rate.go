package market

import (
	"fmt"
	"math"
	"strconv"
)

// A Rate is a spending rate or a price, in nano-dollars per second. It is an integer, so that
// sums of bids are exact.
type Rate int64

const (
	nano = 1e9 // nano-dollars per dollar

	// MaxRate is the highest rate that [Dollars] returns, about nine million dollars per
	// second. Every rate up to it is exact as a float64.
	MaxRate Rate = 1 << 53
)

// A Share is a fraction of one host, in [0,1].
type Share float64

// Dollars returns the rate of x dollars per second, rounded toward zero: the highest r with
// r.Float64() <= x. The rounding ensures that a bid never exceeds the rate that its user
// specified. Dollars fails if x is NaN, negative or above [MaxRate].
func Dollars(x float64) (Rate, error) {
	if !(x >= 0 && x <= MaxRate.Float64()) {
		return 0, fmt.Errorf("rate of %v dollars per second: want 0 to %v", x, MaxRate)
	}
	// The rounding error of the product is at most one nano-dollar.
	r := min(Rate(math.Round(x*nano))+1, MaxRate)
	for r.Float64() > x {
		r--
	}
	return r, nil
}

// Float64 returns r in dollars per second.
func (r Rate) Float64() float64 { return float64(r) / nano }

// String returns r in dollars per second, such as "0.25".
func (r Rate) String() string { return strconv.FormatFloat(r.Float64(), 'f', -1, 64) }
