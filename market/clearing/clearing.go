// Package clearing decides in one step which bids obtain units, and at which price. The
// decision is final, whereas the auctions of package market continue as long as jobs run.
//
// A [Mechanism] clears a [Book] of asks and bids into a [Result]. The mechanisms are the
// baselines to which the market is compared. [ReadOrders] reads bids from a file, and
// [Clear] divides units among bidders in proportion to their rates.
//
// The package is independent of the meaning of the units, and of hosts, jobs and accounts.
package clearing

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// An Order is a bid for whole units in a single division.
type Order struct {
	Bidder string
	Rate   *big.Rat // at least 0, in any unit common to all orders
}

// An Award is the number of units that a bidder receives.
type Award struct {
	Bidder string `json:"bidder"`
	Units  int64  `json:"units"`
}

// Clear divides capacity whole units among the bidders in proportion to their rates. The
// arithmetic is exact.
//
// It uses the largest-remainder method. Each bidder first receives its proportional amount
// rounded down. The remaining units then go, one each, to the bidders with the largest
// fractional parts; ties go to the name that sorts first. For example, 10 units at rates 1, 1
// and 1 become 4, 3 and 3.
//
// The awards are sorted by name and add up to capacity, or to 0 if all rates are 0. The order
// of the orders does not affect the result.
//
// Clear fails if capacity or a rate is negative, if a rate is missing, or if two orders have
// the same bidder.
func Clear(orders []Order, capacity int64) ([]Award, error) {
	if capacity < 0 {
		return nil, fmt.Errorf("clear: capacity %d: want at least 0", capacity)
	}
	orders = slices.Clone(orders)
	slices.SortFunc(orders, func(a, b Order) int { return strings.Compare(a.Bidder, b.Bidder) })
	total := new(big.Rat)
	for i, o := range orders {
		if o.Rate == nil || o.Rate.Sign() < 0 {
			return nil, fmt.Errorf("clear: bidder %q: rate %v: want at least 0", o.Bidder, o.Rate)
		}
		if i > 0 && o.Bidder == orders[i-1].Bidder {
			return nil, fmt.Errorf("clear: bidder %q: two orders", o.Bidder)
		}
		total.Add(total, o.Rate)
	}

	awards := make([]Award, len(orders))
	remainders := make([]*big.Rat, len(orders))
	order := make([]int, len(orders)) // indices of the bidders, sorted by descending remainder and then by name
	left := capacity
	for i, o := range orders {
		awards[i].Bidder, remainders[i], order[i] = o.Bidder, new(big.Rat), i
		if total.Sign() == 0 {
			continue
		}
		// The exact share of the bidder is capacity × rate / total. units is its whole number,
		// and the remainder decides who receives a leftover unit.
		part := new(big.Rat).SetInt64(capacity)
		part.Quo(part.Mul(part, o.Rate), total)
		units := new(big.Int).Quo(part.Num(), part.Denom())
		remainders[i].Sub(part, new(big.Rat).SetInt(units))
		awards[i].Units = units.Int64()
		left -= awards[i].Units
	}
	if total.Sign() == 0 {
		return awards, nil
	}
	// Rounding down loses less than one unit per bidder, so left is less than the number of
	// bidders.
	slices.SortStableFunc(order, func(i, j int) int { return remainders[j].Cmp(remainders[i]) })
	for _, i := range order[:left] {
		awards[i].Units++
	}
	return awards, nil
}
