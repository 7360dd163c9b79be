package bidding

import (
	"cmp"
	"math"
	"slices"
)

// reserve is the lowest price, in dollars per second, that a host is taken to
// have: one nano-dollar, the smallest rate there is.
const reserve = 1e-9

// A bestResponse finds the bids that are worth most to a buyer who anticipates
// their effect on prices (Feldman, Lai and Zhang). They maximise
//
//	sum_h w_h x_h / (x_h + c_h)    over x_h >= 0, sum_h x_h = X
//
// where x_h is the bid on host h, c_h the sum of the others' bids there, w_h what
// the whole host would be worth to the buyer, and X the spending rate.
//
// On a host with c_h = 0 any bid wins everything, so that the less is bid the
// better and no bid is the best. Such a host is taken to cost reserve.
//
// The zero value is ready; it keeps storage for the next question.
type bestResponse struct {
	order []int // hosts by w/c descending
}

// bids sets bids[h] to the best bid on host h, in dollars per second, 0 where
// none is worth it. They add up to x, but for rounding, and at most n of them are
// not 0: with x_h marginally worth w_h/c_h at first, the hosts are ordered by
// that, and bids go to the longest prefix on which all are positive,
//
//	x_h = sqrt(w_h c_h) / sum_prefix sqrt(w c) * (X + sum_prefix c) - c_h
//
// of at most n. Among equals the lower index comes first. Where n cuts the prefix
// short these are the best bids on those n hosts; with weights that differ,
// another n may be better still.
//
// bids, w and c have one element a host, n is at least 0; w, c and x are finite
// and at least 0, else Bids panics. All bids are 0 if x, n or every weight is.
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

	prices, roots := 0.0, 0.0 // sum c and sum sqrt(w c) over the prefix
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

func mustBeAmount(x float64) {
	if !(x >= 0 && x <= math.MaxFloat64) {
		panic("bidding: weight, price or rate is not a number of at least 0")
	}
}
