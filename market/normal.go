package market

import (
	"gonum.org/v1/gonum/stat/distuv"
)

// A gaussian takes the price to be Normal with the mean μ and deviation σ of the
// window:
//
//	F⁻¹(g) = μ + σ Φ⁻¹(g)
//
// It can be below 0 for g below 1/2.
type gaussian struct{}

func (gaussian) Percentile(h *History, now, g float64) float64 {
	mean, std := h.Moments(now)
	return mean + std*distuv.UnitNormal.Quantile(g)
}
