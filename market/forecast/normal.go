package forecast

import (
	"bourse/market"

	"gonum.org/v1/gonum/stat/distuv"
)

// A gaussian forecaster assumes that the price has a Normal distribution with the mean μ and
// standard deviation σ of the window:
//
//	F⁻¹(g) = μ + σ Φ⁻¹(g)
//
// For g below 1/2 the forecast can be negative.
type gaussian struct{}

// Percentile implements [market.Forecaster].
func (gaussian) Percentile(h *market.History, now, g float64) float64 {
	mean, std := h.Moments(now)
	return mean + std*distuv.UnitNormal.Quantile(g)
}
