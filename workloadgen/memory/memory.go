// Package memory measures and creates correlation over time in a series. It has estimators of
// the Hurst exponent and of the autocorrelation, and generators that give a series either
// property without changing its values (Sandholm, Lai, Clearwater, §2, "Correlations").
//
// It is independent of the meaning of the series.
package memory
