package market

import (
	"math"

	"bourse/workloadgen/plugin"
)

// A conformal forecaster adjusts its level according to how often the price exceeded its
// forecasts. It implements adaptive conformal inference (Gibbs and Candès 2021, "Adaptive
// Conformal Inference Under Distribution Shift").
//
// Every s seconds, where s is the window divided by Steps, it forecasts a percentile of the
// price over the next window. When that window has passed, err is the fraction of it in which
// the price exceeded the forecast, and the level is updated (their eq. 2):
//
//	α ← α + γ ((1-g) - err)
//
// α starts at 1-g. If the price exceeded the forecast too often, α falls and the forecasts
// rise.
//
// The forecast is c + S⁻¹(1-α). Here c is the current price and S is the distribution of
// recent scores. A score is the difference between a price and the price up to one window
// earlier. If α ≤ 0, the forecast is above every price; if α ≥ 1, it is below every price. So
// α cannot move far outside [0,1], because beyond either limit the next updates move it back.
//
// Whatever the prices are, the mean err of n forecasts is within (1+γ(k+1))/(γn) of 1-g, where
// k = Steps is the number of forecasts per window. This is Proposition 4.1 of that paper, for
// outcomes that become known k forecasts late. The bound holds for the long-run average, not
// for each forecast: if the price never changes, some forecasts are below it and others are
// not.
//
// # Design
//
// The state of the forecaster belongs to the [History], which passes every price change to it.
// The forecast therefore does not depend on when, or how often, callers ask for it. The
// forecaster starts to track a level g at the first request for g.
type conformal struct{ ConformalOptions }

// ConformalOptions are the options of the forecaster conformal.
type ConformalOptions struct {
	Gamma  float64 `yaml:"gamma" validate:"gt=0,max=1" doc:"how fast it learns, γ"`
	Steps  int     `yaml:"steps" validate:"min=1,max=100" doc:"forecasts made in a window"`
	Scores int     `yaml:"scores" validate:"min=1,max=10000" doc:"scores kept, the latest"`
}

// NewConformal returns a conformal forecaster with the decoded options.
func NewConformal(decode plugin.Decoder) (Forecaster, error) {
	o := ConformalOptions{Gamma: 0.02, Steps: 10, Scores: 200}
	err := decode(&o)
	return conformal{o}, err
}

// Percentile implements [Forecaster]. The first call starts to track the price. Until a score
// is known, the forecast is the current price.
func (c conformal) Percentile(h *History, now, g float64) float64 {
	h.setNow(now)
	if h.tracked == nil || h.tracked.ConformalOptions != c.ConformalOptions {
		h.tracked = newTracker(c.ConformalOptions, h.Window()/float64(c.Steps), now)
	}
	t := h.tracked
	t.pass(now, h.Price())
	return t.quantile(t.level(g).alpha, h.Price()).Float64()
}

// rounding is the relative error allowed in sums of durations. Without this tolerance, a price
// in force for exactly a fraction g of the window might not count as the percentile.
const rounding = 1e-12

// The lowest and the highest forecast. Every price lies between these two rates.
const (
	above Rate = math.MaxInt64
	below Rate = -1
)

// quantile returns the forecast at level alpha if the current price is p.
func (t *tracker) quantile(alpha float64, p Rate) Rate {
	n := len(t.sorted)
	switch {
	case alpha <= 0:
		return above
	case alpha >= 1:
		return below
	case n == 0:
		return p
	}
	// The conformal quantile is the ⌈(1-α)n⌉-th smallest of the n scores.
	rank := int(math.Ceil((1-alpha)*float64(n) - rounding))
	score := t.sorted[min(max(rank, 1), n)-1]
	if score > above-p {
		return above
	}
	return p + score
}
