// Package study answers questions that take many runs of one scenario: samples become rows,
// and rows become a document.
//
//   - [Tune] finds the best of many settings. Replications go where they decide.
//   - [Calibrate] compares what is promised with a probability with what is kept. Such a
//     probability can mean that the price stays at most at its percentile, and that the contract
//     is fulfilled. [Forecast] evaluates forecasters on a price by itself, drawn or recorded, with
//     no market around it.
//   - [ReadReadings] reads a file of decisions that a paper leaves open. A choice of one value
//     each is a reading. [Readings.Find] runs a designed array of readings and says how far each
//     is from all printed numbers: which decisions matter, and which reading is nearest. This is
//     a multiverse analysis (Steegen, Tuerlinckx, Gelman, Vanpaemel 2016).
//
// The package does not know what a metric or a field of a scenario means, how policies decide,
// or how a run proceeds.
package study
