// Package dist holds the distributions that workloads are made of, one to a
// file: each with its distribution function, the quantile that inverts it, its
// mean and its variance. A sample is always the quantile of one uniform, so
// that two runs which differ in one distribution still share every other draw.
//
// It does not know jobs or traces. gonum's distuv is underneath where it has
// the distribution. To add one, write its file and its line in the table below.
package dist

import "bourse/workloadgen/plugin"

// A Distribution is a probability law on the real line.
type Distribution interface {
	// CDF returns the probability of a value of at most x, in [0,1].
	CDF(x float64) float64
	// Quantile returns the smallest x for which CDF(x) is at least u, for u in (0,1).
	Quantile(u float64) float64
	// Mean returns the expectation, +Inf where it diverges.
	Mean() float64
	// Variance returns the variance, +Inf where it diverges.
	Variance() float64
}

// Table returns the distributions. No distribution draws when it is made.
func Table() plugin.Table[Distribution] {
	return plugin.Table[Distribution]{Kind: "distribution", Members: plugin.Members[Distribution]{
		"binbin":      {"powers of two with a histogram's weights: the market paper's job sizes", newBinBin},
		"constant":    {"always the same value", newConstant},
		"exponential": {"memoryless: the inter-arrival times of a Poisson process", newExponential},
		"gamma":       {"shape and scale", newGamma},
		"gpareto":     {"generalized Pareto: k, sigma and threshold", newGPareto},
		"hypergamma":  {"mixture of two gammas", newHyperGamma},
		"hypweib":     {"mixture of a Weibull and the exponential of a Weibull: the market paper's inter-arrival times", newHypWeib},
		"lognormal":   {"exponential of a normal", newLogNormal},
		"normal":      {"mean and standard deviation", newNormal},
		"pareto":      {"power law above a minimum", newPareto},
		"polylin":     {"polynomial in the logarithm: the market paper's runtimes", newPolyLin},
		"truncnormal": {"normal, given that it lies in an interval", newTruncNormal},
		"uniform":     {"between two bounds", newUniform},
		"weibull":     {"shape and scale", newWeibull},
		"zipf":        {"ranks 1 to n with probability rank^-s, or powers of two of them", newZipf},
		"mixture":     {"a draw of one distribution or of another", newMixture},
		"within":      {"a distribution, given that it lies in an interval", newWithin},
	}}
}
