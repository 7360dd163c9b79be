package market

import (
	"math"
)

// A twoSided bounds F⁻¹(g) by Chebyshev's inequality for both tails, which asks
// for more than the one tail needs:
//
//	F⁻¹(g) ≤ μ + σ / √(1-g)
type twoSided struct{}

func (twoSided) Percentile(h *History, now, g float64) float64 {
	mean, std := h.Moments(now)
	return mean + std/math.Sqrt(1-g)
}
