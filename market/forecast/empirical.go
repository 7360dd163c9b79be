package forecast

import (
	"cmp"
	"slices"

	"bourse/market"
	"bourse/workloadgen/plugin"
)

// rounding is the relative error allowed in sums of durations. Without this tolerance, a price
// in force for exactly a fraction g of the window might not count as the percentile.
const rounding = 1e-12

// An empirical forecaster takes the percentile from the distribution of prices in the window.
// It returns the lowest price p such that the price was at most p for at least a fraction g of
// the time. It cannot forecast a price that did not occur in the window.
type empirical struct {
	stays []market.Stay // scratch memory
}

// newEmpirical returns an empirical forecaster, which has no options.
func newEmpirical(decode plugin.Decoder) (market.Forecaster, error) {
	return &empirical{}, decode(&struct{}{})
}

// Percentile implements [market.Forecaster]. Percentile sorts the prices of the window and adds up
// their durations until the sum reaches the fraction g of the window.
func (e *empirical) Percentile(h *market.History, now, g float64) float64 {
	e.stays = h.Stays(now, e.stays[:0])
	slices.SortFunc(e.stays, func(a, b market.Stay) int { return cmp.Compare(a.Price, b.Price) })
	length := 0.0
	for _, s := range e.stays {
		length += s.Seconds
	}
	p, below := h.Price(), 0.0
	for _, s := range e.stays {
		p = s.Price
		if below += s.Seconds; below >= g*length*(1-rounding) {
			break
		}
	}
	return p.Float64()
}
