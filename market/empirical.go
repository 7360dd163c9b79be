package market

import (
	"bourse/workloadgen/plugin"
	"cmp"
	"slices"
)

// rounding is what the sums of spans may be off by, relatively: a price that stood
// for just the fraction g is the percentile.
const rounding = 1e-12

// An empirical reads the percentile off the window itself: the lowest price p
// such that the price was at most p for at least a fraction g of the time.
type empirical struct {
	stays []stay // scratch
}

// A stay is a price and the seconds for which it stood.
type stay struct {
	price   Rate
	seconds float64
}

func newEmpirical(decode plugin.Decoder) (Forecaster, error) {
	return &empirical{}, decode(&struct{}{})
}

func (e *empirical) Percentile(h *History, now, g float64) float64 {
	e.stays = h.stays(now, e.stays[:0])
	slices.SortFunc(e.stays, func(a, b stay) int { return cmp.Compare(a.price, b.price) })
	length := 0.0
	for _, s := range e.stays {
		length += s.seconds
	}
	p, below := h.Price(), 0.0
	for _, s := range e.stays {
		p = s.price
		if below += s.seconds; below >= g*length*(1-rounding) {
			break
		}
	}
	return p.Float64()
}
