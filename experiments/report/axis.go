package report

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// A ticker marks about five round values, each with as many decimals as needed.
type ticker struct{}

// Ticks implements [plot.Ticker].
func (ticker) Ticks(lo, hi float64) []plot.Tick {
	step := roundStep(hi - lo)
	var ticks []plot.Tick
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+step*1e-9; i++ {
		v := i*step + 0 // no negative zero
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 6, 64)})
	}
	return ticks
}

// roundStep returns 1, 2 or 5 times a power of ten that divides span into four
// to ten parts.
func roundStep(span float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(span/4)))
	switch n := span / 4 / unit; {
	case n >= 5:
		return 5 * unit
	case n >= 2:
		return 2 * unit
	default:
		return unit
	}
}

// tiny is a span that is nothing but rounding error.
const tiny = 1e-12

// yRange returns the ends of p's y axis: its own if it has any, further out, to
// a round value, if a mean lies beyond; else those of the data and zero.
func (p Panel) yRange() (lo, hi float64) {
	fixed := p.Lo != 0 || p.Hi != 0
	lo, hi = p.Lo, p.Hi
	for _, c := range p.Curves {
		for _, pt := range c.Points {
			lo, hi = min(lo, pt.Mean), max(hi, pt.Mean)
			if !fixed {
				lo, hi = min(lo, pt.Lo), max(hi, pt.Hi)
			}
		}
	}
	if hi-lo < tiny {
		hi = lo + 1
	}
	step := roundStep(hi - lo)
	if !fixed || lo < p.Lo {
		lo = math.Floor(lo/step) * step
	}
	if !fixed || hi > p.Hi {
		hi = math.Ceil(hi/step) * step
	}
	return lo, hi
}

// xRange returns the least and greatest x.
func (p Panel) xRange() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, c := range p.Curves {
		for _, pt := range c.Points {
			lo, hi = min(lo, pt.X), max(hi, pt.X)
		}
	}
	if lo > hi {
		return 0, 1
	}
	if hi-lo < tiny*max(1, math.Abs(lo), math.Abs(hi)) {
		return lo - 0.5*max(1, math.Abs(lo)), hi + 0.5*max(1, math.Abs(hi))
	}
	return lo, hi
}
