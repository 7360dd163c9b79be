// Package memory measures and makes correlation over time in a series: the
// Hurst exponent of long memory, the autocorrelation, and generators that give
// a series either without changing its values (Sandholm, Lai, Clearwater, §2,
// "Correlations").
//
// It does not know what the series is of.
package memory
