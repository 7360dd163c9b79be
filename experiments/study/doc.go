// Package study answers questions that take many runs of one scenario: samples become rows,
// and rows become a document.
//
//   - [Tune] finds the best of many settings. Replications go where they decide.
//   - [Calibrate] compares what is promised with a probability with what is kept. Such a
//     probability can mean that the price stays at most at its percentile, and that the contract
//     is fulfilled. [Forecast] evaluates forecasters on a price by itself, drawn or recorded, with
//     no market around it.
package study
