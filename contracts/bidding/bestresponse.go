package bidding

import (
	"cmp"
	"math"
	"slices"
)

// reserve is the lowest price that a host is assumed to have, in dollars per second. It is one
// nano-dollar, the smallest rate.
const reserve = 1e-9

// A bestResponse computes the optimal bids of a buyer who anticipates the effect of the bids
// on prices (Feldman, Lai and Zhang). They maximize
//
//	sum_h w_h x_h / (x_h + c_h)    over x_h >= 0, sum_h x_h = X
//
// Let x_h be the bid on host h, and c_h the sum of the other bids there. Let w_h be the value
// of the whole host to the buyer, and X the total spending rate.
//
// If c_h = 0, any positive bid wins the whole host. A smaller bid is then always better, so
// there is no optimum. Such a host is therefore treated as if its price were reserve.
//
// The zero value is ready to use. It reuses its memory from one call to the next.
type bestResponse struct {
	order []int // hosts by descending w/c
}

// bids sets bids[h] to the optimal bid on host h, in dollars per second, or to 0 if no bid is
// worthwhile. At most n bids are positive. The bids add up to x, except for rounding.
//
// The marginal value of the first dollar on host h is w_h/c_h. The hosts are sorted by this
// value; ties are in order of index. Bids go to the longest prefix of at most n hosts for
// which all of the following values are positive:
//
//	x_h = sqrt(w_h c_h) / sum_prefix sqrt(w c) * (X + sum_prefix c) - c_h
//
// If n limits the prefix, these bids are optimal on those n hosts. If the weights differ,
// another set of n hosts may be better.
//
// The slices bids, w and c have one element per host, and n is at least 0. bids panics unless
// w, c and x are finite and at least 0. All bids are 0 if x, n or every weight is 0.
func (b *bestResponse) bids(bids, w, c []float64, x float64, n int) {
	clear(bids)
	mustBeAmount(x)
	b.order = b.order[:0]
	for h := range w {
		mustBeAmount(w[h])
		mustBeAmount(c[h])
		b.order = append(b.order, h)
	}
	price := func(h int) float64 { return max(c[h], reserve) }
	slices.SortFunc(b.order, func(i, j int) int {
		return cmp.Or(cmp.Compare(w[j]/price(j), w[i]/price(i)), cmp.Compare(i, j))
	})

	// Extend the prefix by one host at a time. An additional host changes the bids on all other
	// hosts. Stop at the first host whose own bid would not be positive.
	prices, roots := 0.0, 0.0 // sums of c and of sqrt(w c) over the prefix
	prefix := b.order[:0]
	for _, h := range b.order[:min(n, len(b.order))] {
		p, r := prices+price(h), roots+math.Sqrt(w[h]*price(h))
		if !(math.Sqrt(w[h]*price(h))/r*(x+p) > price(h)) {
			break
		}
		prices, roots = p, r
		prefix = append(prefix, h)
	}
	for _, h := range prefix {
		bids[h] = max(0, math.Sqrt(w[h]*price(h))/roots*(x+prices)-price(h))
	}
}

// mustBeAmount panics unless x is finite and at least 0.
func mustBeAmount(x float64) {
	if !(x >= 0 && x <= math.MaxFloat64) {
		panic("bidding: weight, price or rate is not a number of at least 0")
	}
}
