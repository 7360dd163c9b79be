package market

import (
	"math"

	"bourse/workloadgen/plugin"
)

// A conformal learns from how often it was wrong (adaptive conformal inference, Gibbs and
// Candès 2021, "Adaptive Conformal Inference Under Distribution Shift"). At instants a
// part of the window apart it foretells a percentile of the price over the next window;
// when that is over, err is the part of it for which the price stood higher, and
// (their eq. 2)
//
//	α ← α + γ ((1-g) - err)
//
// α begins at 1-g. The percentile is c + S⁻¹(1-α), where c is the price now, and S the
// distribution of scores: by how much the price has differed, over the recent past, from
// that of up to a window before. Where α ≤ 0 it is above every price, and where α ≥ 1 below
// every price. So α cannot leave the vicinity of [0,1], and the mean err of n forecasts is
// within (1+γ(s+1))/(γn) of 1-g, s a window, whatever the prices do (their Proposition 4.1, for what is
// known s forecasts late).
//
// That holds in the long run, over all instants, not at each: a price that stands still
// is now exceeded and now not.
//
// # Design
//
// What it keeps of a price is in the [History], which tells it of each change: so it
// does not matter when, or how often, anybody asks. It begins with the first question for g.
type conformal struct{ ConformalOptions }

// ConformalOptions are the options of conformal.
type ConformalOptions struct {
	Gamma  float64 `yaml:"gamma" validate:"gt=0,max=1" doc:"how fast it learns, γ"`
	Steps  int     `yaml:"steps" validate:"min=1,max=100" doc:"forecasts made in a window"`
	Scores int     `yaml:"scores" validate:"min=1,max=10000" doc:"scores kept, the latest"`
}

func newConformal(decode plugin.Decoder) (Forecaster, error) {
	o := ConformalOptions{Gamma: 0.02, Steps: 10, Scores: 200}
	err := decode(&o)
	return conformal{o}, err
}

func (c conformal) Percentile(h *History, now, g float64) float64 {
	h.tell(now)
	if h.tracked == nil || h.tracked.ConformalOptions != c.ConformalOptions {
		h.tracked = newTracker(c.ConformalOptions, h.Window()/float64(c.Steps), now)
	}
	t := h.tracked
	t.pass(now, h.Price())
	return t.quantile(t.level(g).alpha, h.Price()).Float64()
}

// Beyond all prices.
const (
	above Rate = math.MaxInt64
	below Rate = -1
)

// quantile returns the percentile at α where the price is p.
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
	rank := int(math.Ceil((1-alpha)*float64(n) - rounding))
	score := t.sorted[min(max(rank, 1), n)-1]
	if score > above-p {
		return above
	}
	return p + score
}
