package clearing

import "bourse/market"

// A Mechanism decides which bids of a book obtain units, and their payments. It draws no random
// numbers and reads no clock. It may keep state between books, such as credits, and is not safe for
// concurrent use.
type Mechanism interface {
	// Clear stores the decision on b in r. It sets all fields of r, except that Price stays
	// unchanged if the book has no units. It does not change b and does not retain b or r. It
	// allocates no memory for a book that is no larger than an earlier one.
	Clear(b *Book, r *Result) error
}

// A Book is the input of a mechanism: the units on sale and the bids for them.
type Book struct {
	Capacity int    // units on sale, for bundles and divisions; an auction has one ask per unit
	Asks     []Ask  // in order of hosts
	Held     []Span // bundles that are already sold
	Bids     []Bid  // in order of arrival
}

// An Ask offers one unit.
type Ask struct {
	Seller int32
	Host   int32       // number of the host of the unit, from 1 on: a bid takes at most one unit of a host; 0 if hosts do not matter
	On     int32       // 1 + index of the bid whose job runs on the unit; 0 if there is no such bid
	Price  market.Rate // lowest acceptable price, per second
}

// A Span is a bundle of units in the interval [From, To).
type Span struct {
	Units    int
	From, To float64
}

// A Bid requests a number of units: all or none, unless the mechanism divides bids.
type Bid struct {
	ID       int64
	User     int32
	Units    int
	Running  bool        // the job of the bid already has units
	Submit   float64     // submission time of its job, in seconds
	Price    market.Rate // highest price that the bid accepts, per unit and second
	From, To float64     // interval [From, To) of a bundle
	Seconds  float64     // duration of a bundle; To - From can differ from it by a rounding error
	Value    int64       // maximum payment for the whole bundle, in micro-dollars
}

// A Result is the decision of a mechanism. Callers reuse one Result for many books.
type Result struct {
	Units  []int  // units that each bid obtains
	Sold   []bool // per ask: whether it is sold
	Takers []int  // per ask: 1 + index of the bid that obtains the unit, or 0; empty unless a host has several units
	Order  []int  // bids with units, in the order in which the mechanism considered them
	Traded bool   // whether a bid obtained units

	// Price is the uniform price per unit and second, in [Low, High]. A book without units does
	// not change Price. Low and High are 0 if nothing is traded.
	Price, Low, High market.Rate

	Pay         []int64 // payment of each bid for its bundle, in micro-dollars
	Approximate bool    // whether an approximation replaced an exact rule
}

// reset sets r to a result for b in which no bid obtains units.
func (r *Result) reset(b *Book) {
	r.Units = zeroed(r.Units, len(b.Bids))
	r.Pay = zeroed(r.Pay, len(b.Bids))
	r.Sold = zeroed(r.Sold, len(b.Asks))
	r.Takers, r.Order, r.Traded, r.Low, r.High, r.Approximate = r.Takers[:0], r.Order[:0], false, 0, 0, false
}

// award gives bid i of b the given number of units.
func (r *Result) award(i, units int) {
	r.Units[i] = units
	if units > 0 {
		r.Order = append(r.Order, i)
		r.Traded = true
	}
}

// zeroed returns a slice of n zeros. It reuses the memory of s if that is large enough.
func zeroed[T bool | int | int64](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}
