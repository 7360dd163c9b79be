package forecast

import (
	"math"

	"bourse/market"
	"bourse/workloadgen/plugin"

	"gonum.org/v1/gonum/stat/distuv"
)

// An ewma forecaster assumes that the price has a Normal distribution with exponentially
// weighted moments (RiskMetrics 1996). The weight of a price falls with its age and halves
// every H·W seconds:
//
//	F⁻¹(g) = μ + σ Φ⁻¹(g), weights 2^(-age/(H W))
//
// W is the length of the window in seconds. It follows a change in the price level faster than
// [gaussian], which weights the whole window equally. For g below 1/2 the forecast can be
// negative.
type ewma struct {
	EWMAOptions
	stays []market.Stay // scratch memory
}

// EWMAOptions are the options of the forecaster ewma.
type EWMAOptions struct {
	HalfLife float64 `yaml:"half_life" validate:"gt=0,max=100" doc:"age at which a price counts half, H, as a part of the window"`
}

// newEWMA returns an ewma forecaster with the decoded options.
func newEWMA(decode plugin.Decoder) (market.Forecaster, error) {
	o := EWMAOptions{HalfLife: 0.2}
	err := decode(&o)
	return &ewma{EWMAOptions: o}, err
}

// Percentile implements [market.Forecaster]. If the price was constant over the window, the forecast
// is that price.
func (e *ewma) Percentile(h *market.History, now, g float64) float64 {
	e.stays = h.Stays(now, e.stays[:0])
	half := e.HalfLife * h.Window()
	weigh := func(of func(p float64) float64) float64 { // returns the weighted mean of a function of the price
		sum, total, age := 0.0, 0.0, 0.0
		for i := len(e.stays) - 1; i >= 0; i-- {
			s := &e.stays[i]
			// w is proportional to the integral of the weight over the stay, from age to age +
			// seconds.
			w := math.Exp2(-age/half) * -math.Expm1(-s.Seconds*math.Ln2/half)
			sum, total, age = sum+w*of(s.Price.Float64()), total+w, age+s.Seconds
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
