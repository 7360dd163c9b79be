// Package study answers questions that need many runs of one scenario. It turns samples into
// rows, and rows into a document.
//
//   - [Tune] finds the best of many settings. Replications are spent where they decide. -
//     [Calibrate] compares promised and realized probabilities. Such a probability can mean
//     that the price stays at most at its percentile, and that the contract is fulfilled.
//     [Forecast] evaluates forecasters on a price by itself, drawn or recorded, with no
//     market around it.
//   - [ReadReadings] reads a file with the decisions that a paper leaves open. A choice of
//     one value each is a reading. [Readings.Find] runs a designed array of readings and says
//     how far each is from all printed numbers: which decisions matter, and which reading is
//     nearest. This is a multiverse analysis (Steegen, Tuerlinckx, Gelman, Vanpaemel 2016).
//
// The package is independent of the meaning of metrics and scenario fields, of how policies
// decide, and of how a run proceeds.
package study
