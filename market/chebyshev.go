package market

import (
	"math"
)

// A chebyshev bounds F⁻¹(g) for any distribution with the mean μ and deviation σ
// of the window, by Cantelli's one-sided inequality:
//
//	F⁻¹(g) ≤ μ + σ √(g/(1-g))
type chebyshev struct{}

func (chebyshev) Percentile(h *History, now, g float64) float64 {
	mean, std := h.Moments(now)
	return mean + std*math.Sqrt(g/(1-g))
}
