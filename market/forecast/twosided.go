package forecast

import (
	"math"

	"bourse/market"
)

// A twoSided bounds F⁻¹(g) by Chebyshev's inequality for both tails. This bound is higher than
// the one-sided bound of [chebyshev], although a one-sided bound is sufficient:
//
//	F⁻¹(g) ≤ μ + σ / √(1-g)
//
// For g = 0.9 it is μ + 3.16σ, compared with μ + 3σ.
type twoSided struct{}

// Percentile implements [market.Forecaster].
func (twoSided) Percentile(h *market.History, now, g float64) float64 {
	mean, std := h.Moments(now)
	return mean + std/math.Sqrt(1-g)
}
