// Package market divides one resource among those who bid for it.
//
// An [Auctioneer] stands for one host. Bidders name a spending rate; the price
// is the sum of the rates; each holds a share in proportion to its own ([Kept]). A
// [History] remembers the price for a while, and a [Forecaster] reads from it
// the price that will not be exceeded with a given probability. A [Ranking]
// keeps many prices in order, a [Series] their total over a run, and [Clear]
// divides whole units once.
//
// The package does not know hosts, jobs, deadlines, or money in accounts.
//
// Reference: Sandholm, Lai, Clearwater, "Admission Control in a Computational
// Market", §3.
//
// # Design
//
// Rates are integers, so that a price is an exact sum whatever the order of the
// bids, and returns to exactly 0 when the last one is withdrawn. Shares and
// moments are float64: they are measured, not paid.
//
// Instants are seconds since the origin of the run, at least 0, and never go
// back; a caller that breaks this hears a panic.
package market
