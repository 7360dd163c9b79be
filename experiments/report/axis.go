package report

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// A ticker marks about five round values on an axis, with as many decimals as necessary.
type ticker struct{}

// Ticks implements [plot.Ticker].
func (ticker) Ticks(lo, hi float64) []plot.Tick {
	step := roundStep(hi - lo)
	var ticks []plot.Tick
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+step*1e-9; i++ {
		v := i*step + 0 // + 0 turns -0 into 0
		ticks = append(ticks, plot.Tick{Value: v, Label: tickLabel(v)})
	}
	return ticks
}

// tickLabel formats v as in print: 40,000 or 4×10⁷, not 4e+07.
func tickLabel(v float64) string {
	s := strconv.FormatFloat(v, 'g', 6, 64)
	digits, exponent, scientific := strings.Cut(s, "e")
	if !scientific && math.Abs(v) < 1e5 {
		if whole, part, _ := strings.Cut(strings.TrimPrefix(s, "-"), "."); len(whole) > 4 {
			return strings.TrimSuffix(strings.TrimSuffix(s, part), whole) + whole[:len(whole)-3] + "," + whole[len(whole)-3:] + part
		}
		return s
	}
	if !scientific {
		digits, exponent, _ = strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	}
	n, _ := strconv.Atoi(exponent)
	return timesTen(digits, n)
}

// timesTen formats the number digits × 10ⁿ.
func timesTen(digits string, n int) string {
	raised := strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹").Replace(strconv.Itoa(n))
	switch digits {
	case "1":
		return "10" + raised
	case "-1":
		return "-10" + raised
	}
	return digits + "×10" + raised
}

// decade formats 10^v for the axis of a figure.
func decade(v float64) string {
	if v == math.Trunc(v) && (v < -2 || v > 3) {
		return timesTen("1", int(v))
	}
	x, _ := strconv.ParseFloat(strconv.FormatFloat(math.Pow(10, v), 'g', 3, 64), 64)
	return tickLabel(x)
}

// ticksOf returns the ticker of an axis.
func ticksOf(logarithmic bool) plot.Ticker {
	if logarithmic {
		return decades{}
	}
	return ticker{}
}

// decades marks at most seven powers of ten on an axis whose values are exponents.
type decades struct{}

// Ticks implements [plot.Ticker].
func (decades) Ticks(lo, hi float64) []plot.Tick {
	if hi-lo < 1 {
		ticks := ticker{}.Ticks(lo, hi)
		for i := range ticks {
			ticks[i].Label = decade(ticks[i].Value)
		}
		return ticks
	}
	step := math.Ceil((hi - lo) / 7)
	var ticks []plot.Tick
	for v := math.Ceil(lo - 1e-9); v <= hi+1e-9; v += step {
		ticks = append(ticks, plot.Tick{Value: v + 0, Label: decade(v)})
	}
	return ticks
}

// power formats 10^v with at most four digits for a terminal.
func power(v float64) string {
	s := strconv.FormatFloat(math.Pow(10, v), 'g', 3, 64)
	return strings.NewReplacer("e+0", "e", "e+", "e", "e-0", "e-").Replace(s)
}

// logged returns the panel with the coordinates of logarithmic axes replaced by their
// exponents of ten.
func (p Panel) logged() Panel {
	if !p.LogX && !p.LogY || p.Groups != nil {
		p.LogX, p.LogY = false, false
		return p
	}
	curves := make([]Curve, len(p.Curves))
	for i, c := range p.Curves {
		curves[i].Name = c.Name
		for _, pt := range c.Points {
			if p.LogX && !(pt.X > 0) || p.LogY && !(pt.Mean > 0) {
				continue
			}
			if p.LogX {
				pt.X = math.Log10(pt.X)
			}
			if p.LogY {
				least := pt.Mean / 1e3 // lower end of an interval that reaches 0
				pt.Mean, pt.Lo, pt.Hi = math.Log10(pt.Mean), math.Log10(max(least, pt.Lo)), math.Log10(pt.Hi)
			}
			curves[i].Points = append(curves[i].Points, pt)
		}
	}
	p.Curves = curves
	if p.LogY {
		p.Lo, p.Hi = 0, 0
	}
	return p
}

// roundStep returns a step that divides span into four to ten parts. The step is 1, 2 or 5
// times a power of ten.
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

// tiny is the largest span that is treated as a rounding error.
const tiny = 1e-12

// yRange returns the ends of p's y axis. If p sets the ends, yRange extends an end to a round
// value if a mean or an interval lies beyond it. If p does not set them, the axis includes the
// data and zero.
func (p Panel) yRange() (lo, hi float64) {
	if p.LogY {
		return p.decades()
	}
	fixed := p.Lo != 0 || p.Hi != 0
	lo, hi = p.Lo, p.Hi
	for _, c := range p.Curves {
		for _, pt := range c.Points {
			lo, hi = widen(lo, hi, pt.Mean, pt.Lo, pt.Hi)
		}
	}
	if hi-lo < tiny {
		hi = lo + 1
	}
	for step := 0.0; step != roundStep(hi-lo); { // repeat, because a longer axis may need a larger step
		step = roundStep(hi - lo)
		if !fixed || lo < p.Lo {
			lo = math.Floor(lo/step) * step
		}
		if !fixed || hi > p.Hi {
			hi = math.Ceil(hi/step) * step
		}
	}
	return lo, hi
}

// widen extends the range from lo to hi so that it includes the finite values. An interval
// may have infinite ends, which are ignored.
func widen(lo, hi float64, values ...float64) (float64, float64) {
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return lo, hi
}

// decades returns the integer exponents of two powers of ten that enclose the data.
func (p Panel) decades() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, c := range p.Curves {
		for _, pt := range c.Points {
			lo, hi = widen(lo, hi, pt.Mean)
		}
	}
	if lo > hi {
		return 0, 1
	}
	lo, hi = math.Floor(lo), math.Ceil(hi)
	return lo, max(hi, lo+1)
}

// xRange returns the smallest and the largest x.
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
