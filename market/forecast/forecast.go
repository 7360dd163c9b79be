// Package forecast contains the forecasters, which estimate a percentile of a price from past
// prices. Each is one file and one line in [Table]. The package does not depend on policies, which
// use the estimates.
package forecast

import (
	"bourse/market"
	"bourse/workloadgen/plugin"
)

// Table returns the table of forecasters.
func Table() plugin.Table[market.Forecaster] {
	return plugin.Table[market.Forecaster]{Kind: "forecaster", Members: plugin.Members[market.Forecaster]{
		"chebyshev":           {"one-sided Chebyshev (Cantelli) bound: mean + std sqrt(g/(1-g))", plugin.Is[market.Forecaster](chebyshev{})},
		"chebyshev-two-sided": {"two-sided Chebyshev bound: mean + std / sqrt(1-g)", plugin.Is[market.Forecaster](twoSided{})},
		"conformal":           {"adaptive conformal inference: moves the level by how often the price was higher, so that in the long run it is with probability 1-g", market.NewConformal},
		"empirical":           {"the price that was not exceeded for a fraction g of the window", newEmpirical},
		"ewma":                {"quantile of a Normal price with exponentially weighted mean and std", newEWMA},
		"normal":              {"quantile of a Normal price of the same mean and std", plugin.Is[market.Forecaster](gaussian{})},
		"quantile":            {"quantile regression of the price on the price a lag before, over the window", newRegression},
	}}
}
