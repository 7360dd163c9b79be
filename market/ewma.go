package market

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"bourse/workloadgen/plugin"
)

// An ewma takes the price to be Normal with exponentially weighted moments (RiskMetrics
// 1996): a price counts the less the longer ago it stood,
//
//	F⁻¹(g) = μ + σ Φ⁻¹(g), weights 2^(-age/(H W))
//
// within the window, of W seconds. It can be below 0 for g below 1/2.
type ewma struct {
	EWMAOptions
	stays []stay // scratch
}

// EWMAOptions are the options of ewma.
type EWMAOptions struct {
	HalfLife float64 `yaml:"half_life" validate:"gt=0,max=100" doc:"age at which a price counts half, H, as a part of the window"`
}

func newEWMA(decode plugin.Decoder) (Forecaster, error) {
	o := EWMAOptions{HalfLife: 0.2}
	err := decode(&o)
	return &ewma{EWMAOptions: o}, err
}

func (e *ewma) Percentile(h *History, now, g float64) float64 {
	e.stays = h.stays(now, e.stays[:0])
	half := e.HalfLife * h.Window()
	weigh := func(of func(p float64) float64) float64 { // the weighted mean of it
		sum, total, age := 0.0, 0.0, 0.0
		for i := len(e.stays) - 1; i >= 0; i-- {
			s := &e.stays[i]
			w := math.Exp2(-age/half) * -math.Expm1(-s.seconds*math.Ln2/half)
			sum, total, age = sum+w*of(s.price.Float64()), total+w, age+s.seconds
		}
		return sum / total
	}
	if len(e.stays) < 2 {
		return h.Price().Float64()
	}
	mean := weigh(func(p float64) float64 { return p })
	variance := weigh(func(p float64) float64 { return (p - mean) * (p - mean) })
	return mean + math.Sqrt(variance)*distuv.UnitNormal.Quantile(g)
}
