// Package dist contains the distributions of workloads, with one distribution per file. Each
// has a distribution function, its inverse (the quantile), a mean and a variance. A sample is
// always the quantile of one uniform, so two runs that differ in one distribution share all
// other draws.
//
// The package is independent of jobs and traces. It uses gonum's distuv if possible. To add
// a distribution, write its file and add it to the table below.
package dist

import "bourse/workloadgen/plugin"

// A Distribution is a probability distribution on the real line.
type Distribution interface {
	// CDF returns the probability of a value of at most x, in [0,1].
	CDF(x float64) float64
	// Quantile returns the smallest x for which CDF(x) is at least u, for u in (0,1).
	Quantile(u float64) float64
	// Mean returns the expectation, or +Inf if it diverges.
	Mean() float64
	// Variance returns the variance, or +Inf if it diverges.
	Variance() float64
}

// Table returns the distributions. Creating a distribution draws no random numbers.
func Table() plugin.Table[Distribution] {
	return plugin.Table[Distribution]{Kind: "distribution", Members: plugin.Members[Distribution]{
		"binbin":      {"powers of two with the weights of a histogram (the market paper's job sizes)", newBinBin},
		"constant":    {"always the same value", newConstant},
		"exponential": {"memoryless (inter-arrival times of a Poisson process)", newExponential},
		"gamma":       {"shape and scale", newGamma},
		"gpareto":     {"generalized Pareto: k, sigma and threshold", newGPareto},
		"hypergamma":  {"mixture of two gammas", newHyperGamma},
		"hypweib":     {"mixture of a Weibull and the exponential of a Weibull (the market paper's inter-arrival times)", newHypWeib},
		"lognormal":   {"exponential of a normal", newLogNormal},
		"normal":      {"mean and standard deviation", newNormal},
		"pareto":      {"power law above a minimum", newPareto},
		"polylin":     {"polynomial in the logarithm (the market paper's runtimes)", newPolyLin},
		"truncnormal": {"normal, truncated to an interval", newTruncNormal},
		"uniform":     {"between two bounds", newUniform},
		"weibull":     {"shape and scale", newWeibull},
		"zipf":        {"ranks 1 to n with probability proportional to rank^-s, or two to the power of the rank", newZipf},
		"mixture":     {"mixture of two distributions", newMixture},
		"within":      {"any distribution, truncated to an interval", newWithin},
	}}
}
