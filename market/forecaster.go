package market

import "bourse/workloadgen/plugin"

// A Forecaster estimates a percentile of the price from past prices. Admission policies plan
// with that percentile instead of the current price, because the price rises when other users
// bid.
type Forecaster interface {
	// Percentile returns F⁻¹(g): the price, in dollars per second, that will not be exceeded
	// with probability g (eq. 5). g is between 0 and 1, exclusive. The estimate uses the
	// window of h that ends at now.
	Percentile(h *History, now, g float64) float64
}

// Forecasters returns the table of forecasters.
func Forecasters() plugin.Table[Forecaster] {
	return plugin.Table[Forecaster]{Kind: "forecaster", Members: plugin.Members[Forecaster]{
		"chebyshev":           {"one-sided Chebyshev (Cantelli) bound: mean + std sqrt(g/(1-g))", plugin.Is[Forecaster](chebyshev{})},
		"chebyshev-two-sided": {"two-sided Chebyshev bound: mean + std / sqrt(1-g)", plugin.Is[Forecaster](twoSided{})},
		"conformal":           {"adaptive conformal inference: moves the level by how often the price was higher, so that in the long run it is with probability 1-g", newConformal},
		"empirical":           {"the price that was not exceeded for a fraction g of the window", newEmpirical},
		"ewma":                {"quantile of a Normal price with exponentially weighted mean and std", newEWMA},
		"normal":              {"quantile of a Normal price of the same mean and std", plugin.Is[Forecaster](gaussian{})},
		"quantile":            {"quantile regression of the price on the price a lag before, over the window", newRegression},
	}}
}
