package report

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// forest draws a panel of differences as a forest plot. It has rows with points and
// intervals, a line at 0 and, between Lo and Hi, the range of differences that do not
// matter.
func (p Panel) forest(pl *plot.Plot) error {
	rows := float64(len(p.Groups))
	lo, hi := min(0, p.Lo), max(0, p.Hi)
	for _, c := range p.Curves {
		for _, pt := range c.Points {
			lo, hi = widen(lo, hi, pt.Mean, pt.Lo, pt.Hi)
		}
	}
	if lo == hi {
		lo, hi = lo-1, hi+1
	}
	pl.X.Min, pl.X.Max, pl.Y.Min, pl.Y.Max = lo-(hi-lo)*0.05, hi+(hi-lo)*0.05, -0.5, rows-0.5
	if p.Lo < p.Hi {
		band, err := plotter.NewPolygon(plotter.XYs{{X: p.Lo, Y: -0.5}, {X: p.Hi, Y: -0.5}, {X: p.Hi, Y: rows - 0.5}, {X: p.Lo, Y: rows - 0.5}})
		if err != nil {
			return err
		}
		band.Color, band.LineStyle.Width = color.Gray{0xEC}, 0
		pl.Add(band)
	}
	zero, err := plotter.NewLine(plotter.XYs{{X: 0, Y: -0.5}, {X: 0, Y: rows - 0.5}})
	if err != nil {
		return err
	}
	zero.LineStyle = draw.LineStyle{Color: color.Gray{0x80}, Width: 0.7}
	pl.Add(zero)
	var all plotter.XYs
	var at struct { // position and interval of each point
		plotter.XYs
		plotter.XErrors
	}
	for _, c := range p.Curves {
		for _, pt := range c.Points {
			xy := plotter.XY{X: pt.Mean, Y: rows - 1 - pt.X} // the first row is at the top
			all = append(all, xy)
			if !(pt.Hi > pt.Lo) {
				continue
			}
			at.XYs = append(at.XYs, xy)
			at.XErrors = append(at.XErrors, struct{ Low, High float64 }{pt.Mean - pt.Lo, pt.Hi - pt.Mean})
		}
	}
	style := styleOf(0)
	if len(at.XYs) > 0 {
		bars, err := plotter.NewXErrorBars(at)
		if err != nil {
			return err
		}
		bars.LineStyle, bars.CapWidth = draw.LineStyle{Color: style.color, Width: 1}, 4
		pl.Add(bars)
	}
	if len(all) > 0 {
		marks, err := plotter.NewScatter(all)
		if err != nil {
			return err
		}
		marks.GlyphStyle = style.mark()
		pl.Add(marks)
	}
	var ticks plot.ConstantTicks
	for i, name := range p.Groups {
		label, _ := fit(name, 8, 110)
		ticks = append(ticks, plot.Tick{Value: rows - 1 - float64(i), Label: label})
	}
	pl.Y.Tick.Marker = ticks
	return nil
}
