package market

// Quote returns the share of a host that a new bid of b obtains where the others bid c
// in all (eq. 4):
//
//	q = b / (b + c)
//
// Both are dollars per second, b above 0. With a percentile of the price for c it is
// what the bid obtains at that price (eq. 5).
func Quote(b, c float64) Share { return Share(b / (b + c)) }

// Kept returns the share that a bid of b, which is part of the price, keeps if more is
// bid beside it, the term summed in eq. 6:
//
//	b(s) / (b(s) + b(r) + c(-s))
func Kept(b, price, more float64) Share { return Share(b / (price + more)) }
