// Package market divides one resource among bidders in proportion to their bids.
//
// An [Auctioneer] runs the auction of one host. Bidders name a spending rate, in nano-dollars
// per second. The price is the sum of the rates, and each bidder receives the share rate/price
// ([ShareIf]). For example, bids of 1 and 3 $/s make a price of 4 $/s and shares of 25 % and 75
// %.
//
// A [History] records the recent prices. A [Forecaster] uses the history to estimate the price
// that will not be exceeded with a given probability. A [Ranking] keeps many prices sorted,
// and a [Series] records their sum over a run.
//
// The package is independent of hosts, jobs, deadlines and accounts.
//
// Reference: Sandholm, Lai, Clearwater, "Admission Control in a Computational Market", §3.
//
// # Design
//
// Rates are integers, so a price is an exact sum that does not depend on the order of the
// bids. It returns to exactly 0 when the last bid is withdrawn. Shares and moments are
// float64, because they are measured quantities and not amounts of money.
//
// Times are seconds since the start of the run. They are at least 0 and never decrease; a
// method that receives an earlier time panics.
package market
