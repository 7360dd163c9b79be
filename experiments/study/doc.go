// Package study answers questions that need many runs of one scenario. It converts samples
// to rows, and rows to a document.
//
//   - [Tune] finds the best of many settings. It spends replications where they affect the
//     result.
//   - [Calibrate] compares promised and realized probabilities. A promise means either that
//     the price stays at most at its percentile, or that the contract is fulfilled.
//   - [Forecast] evaluates forecasters on a series of prices, generated or recorded, without
//     a market.
//   - [ReadReadings] reads a file with the decisions that a paper does not specify. A reading
//     selects one value for each decision. [Readings.Find] runs a designed array of readings
//     and reports how far each is from all printed numbers, which decisions matter, and which
//     reading is closest. This is a multiverse analysis (Steegen, Tuerlinckx, Gelman,
//     Vanpaemel 2016).
//
// The package is independent of the meaning of metrics and scenario fields, of how policies
// decide, and of how a run is executed.
package study
