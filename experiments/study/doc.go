// Package study answers questions that take many runs of one scenario: samples become rows,
// and rows become a document.
//
//   - [Tune] finds the best of many settings. Replications go where they decide.
package study
