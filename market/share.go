package market

// Quote returns the share of a host that a new bid of b obtains if the other bids add up to c
// (eq. 4):
//
//	q = b / (b + c)
//
// Both are in dollars per second, and b is above 0. For example, a bid of 1 $/s with other
// bids of 3 $/s obtains 25 %. If c is a percentile of the price, the result is the share
// obtained when the price is at that percentile (eq. 5).
func Quote(b, c float64) Share { return Share(b / (b + c)) }

// ShareIf returns the share that an existing bid of b has after the other bids rise by more.
// It is the term summed in eq. 6:
//
//	b(s) / (b(s) + b(r) + c(-s))
//
// The argument price is the current price, which includes b. In the paper's terms, it is b(s)
// + c(-s), and more is b(r).
func ShareIf(b, price, more float64) Share { return Share(b / (price + more)) }
