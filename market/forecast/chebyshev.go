package forecast

import (
	"math"

	"bourse/market"
)

// A chebyshev bounds F⁻¹(g) for every distribution with the mean μ and standard deviation σ of
// the window. It uses Cantelli's one-sided inequality:
//
//	F⁻¹(g) ≤ μ + σ √(g/(1-g))
//
// The bound needs no assumption about the distribution and is therefore wide: for g = 0.9 it is μ +
// 3σ, compared with μ + 1.28σ for a Normal price.
type chebyshev struct{}

// Percentile implements [market.Forecaster].
func (chebyshev) Percentile(h *market.History, now, g float64) float64 {
	mean, std := h.Moments(now)
	return mean + std*math.Sqrt(g/(1-g))
}
