package market

import (
	"math"
	"math/rand/v2"
)

// A chebyshev bounds F⁻¹(g) for any distribution with the mean μ and deviation σ
// of the window, by Cantelli's one-sided inequality:
//
//	F⁻¹(g) ≤ μ + σ √(g/(1-g))
type chebyshev struct{}

func newChebyshev(decode func(any) error, _ *rand.Rand) (Forecaster, error) {
	return chebyshev{}, noOptions(decode)
}

func (chebyshev) Percentile(h *History, now, g float64) float64 {
	mean, std := h.Moments(now)
	return mean + std*math.Sqrt(g/(1-g))
}
