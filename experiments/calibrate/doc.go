// Package calibrate holds what was promised with a probability against what was kept.
//
// Two things can be meant by the probability g that an admission policy is given: that the
// price stays at most at its percentile, and that the contract is fulfilled. A [Watcher]
// sees what a policy promises of prices and what comes of it; a [Report] shows both,
// point by point of a sweep of g. A [Coverage] is how a forecaster does on a price by
// itself, drawn or recorded, with no market around it.
//
// It knows what policies are told and what they ask; it does not know how they decide, how
// forecasters work, or how runs are made.
package calibrate
