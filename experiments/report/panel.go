package report

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// plot returns the axes of the panel with all their contents.
func (p Panel) plot(styles map[string]style) (*plot.Plot, error) {
	p = p.logged()
	pl := plot.New()
	pl.BackgroundColor = nil
	pl.Title.Text, pl.Title.TextStyle = fit(p.letter+p.Title, 10, p.width()-60)
	pl.X.Label.Text, pl.X.Label.TextStyle = fit(p.X, 9, p.width()-60)
	pl.Y.Label.Text, pl.Y.Label.TextStyle = fit(p.Y, 9, panelHeight/2) // the axis must be at least as long as its label
	pl.Title.TextStyle, pl.Title.Padding = aligned(pl.Title.TextStyle, draw.XCenter, draw.YTop), 5
	pl.X.Label.TextStyle = aligned(pl.X.Label.TextStyle, draw.XCenter, draw.YBottom)
	pl.Y.Label.TextStyle = aligned(pl.Y.Label.TextStyle, draw.XCenter, draw.YBottom)
	pl.X.Tick.Label = aligned(words(8), draw.XCenter, draw.YTop)
	pl.Y.Tick.Label = aligned(words(8), draw.XRight, draw.YCenter)
	pl.X.Tick.Marker, pl.Y.Tick.Marker = ticksOf(p.LogX), ticksOf(p.LogY)
	pl.X.Tick.Length, pl.Y.Tick.Length = 4, 4
	pl.X.Padding, pl.Y.Padding = 0, 0

	switch {
	case p.Heat:
		return pl, p.plane(pl)
	case p.Forest:
		return pl, p.forest(pl)
	}
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal = draw.LineStyle{Color: color.Gray{0xE0}, Width: 0.5}
	pl.Add(grid)
	var err error
	if p.Groups != nil {
		err = p.addBars(pl, styles)
	} else {
		err = p.addLines(pl, styles)
	}
	if err != nil {
		return nil, err
	}
	pl.Y.Min, pl.Y.Max = p.yRange()
	if pl.Y.Min < 0 && !p.LogY {
		zero, err := plotter.NewLine(plotter.XYs{{X: pl.X.Min, Y: 0}, {X: pl.X.Max, Y: 0}})
		if err != nil {
			return nil, err
		}
		zero.LineStyle = draw.LineStyle{Color: color.Black, Width: 0.5}
		pl.Add(zero)
	}
	return pl, nil
}

// dense is the number of points above which a curve is drawn as a line without marks and
// error bars.
const dense = 40

// addLines adds the curves.
func (p Panel) addLines(pl *plot.Plot, styles map[string]style) error {
	for _, c := range p.Curves {
		if len(c.Points) == 0 {
			continue
		}
		s := styles[c.Name]
		xys := make(plotter.XYs, len(c.Points))
		for j, pt := range c.Points {
			xys[j] = plotter.XY{X: pt.X, Y: pt.Mean}
		}
		line, marks, err := plotter.NewLinePoints(xys)
		if err != nil {
			return err
		}
		line.LineStyle, marks.GlyphStyle = s.line(), s.mark()
		pl.Add(line)
		if len(c.Points) > dense {
			continue
		}
		if err := addErrors(pl, xys, c.Points, s.color); err != nil {
			return err
		}
		pl.Add(marks)
	}
	lo, hi := p.xRange()
	pl.X.Min, pl.X.Max = lo-(hi-lo)*0.04, hi+(hi-lo)*0.04
	return p.nameEnds(pl, styles)
}

// addErrors adds the intervals of pts, if any, at the positions xys.
func addErrors(pl *plot.Plot, xys plotter.XYs, pts []Point, c color.Color) error {
	var known struct {
		plotter.XYs
		plotter.YErrors
	}
	for i, pt := range pts {
		if pt.Hi > pt.Lo {
			known.XYs = append(known.XYs, xys[i])
			known.YErrors = append(known.YErrors, struct{ Low, High float64 }{pt.Mean - pt.Lo, pt.Hi - pt.Mean})
		}
	}
	if len(known.XYs) == 0 {
		return nil
	}
	bars, err := plotter.NewYErrorBars(known)
	if err != nil {
		return err
	}
	bars.LineStyle = draw.LineStyle{Color: c, Width: 0.8}
	bars.CapWidth = 4
	pl.Add(bars)
	return nil
}
