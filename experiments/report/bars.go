package report

import (
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// addBars adds a bar for each point. The bars of a group are side by side. A bar of height
// 0 is drawn as a line on the axis. A missing point has no bar.
func (p Panel) addBars(pl *plot.Plot, styles map[string]style) error {
	for i, c := range p.Curves {
		if len(c.Points) == 0 {
			continue
		}
		s := styles[c.Name]
		xys := make(plotter.XYs, len(c.Points))
		for j, pt := range c.Points {
			left, width := barAt(pt.X, i, len(p.Curves))
			xys[j] = plotter.XY{X: left + width/2, Y: pt.Mean}
			bar, err := plotter.NewPolygon(plotter.XYs{
				{X: left, Y: 0}, {X: left + width, Y: 0}, {X: left + width, Y: pt.Mean}, {X: left, Y: pt.Mean},
			})
			if err != nil {
				return err
			}
			bar.Color, bar.LineStyle = s.color, draw.LineStyle{Color: s.color, Width: 1}
			pl.Add(bar)
		}
		if err := addErrors(pl, xys, c.Points, color.Gray{0x30}); err != nil {
			return err
		}
	}
	pl.X.Min, pl.X.Max = -0.5, float64(len(p.Groups))-0.5
	pl.X.Tick.Marker = p.nameGroups(&pl.X.Tick.Label)
	return nil
}

// barAt returns the position of the i-th of n bars in a group.
func barAt(group float64, i, n int) (left, width float64) {
	step := 0.8 / float64(max(1, n))
	return group - 0.4 + step*float64(i), step * 0.9
}

// nameGroups returns the axis marks with the names of the groups. The names are side by side on
// one or two lines if they fit, and slanted if not.
func (p Panel) nameGroups(sty *text.Style) plot.ConstantTicks {
	slot := (p.width() - 50) / vg.Length(max(1, len(p.Groups)))
	widest := func(marks plot.ConstantTicks) (w vg.Length) {
		for _, m := range marks {
			w = max(w, sty.Width(m.Label)+4)
		}
		return w
	}
	oneLine, twoLines := make(plot.ConstantTicks, len(p.Groups)), make(plot.ConstantTicks, len(p.Groups))
	for i, name := range p.Groups {
		name = clean(name)
		oneLine[i] = plot.Tick{Value: float64(i), Label: name}
		twoLines[i] = plot.Tick{Value: float64(i), Label: strings.Replace(name, " ", "\n", 1)}
	}
	switch {
	case widest(oneLine) <= slot:
		return oneLine
	case widest(twoLines) <= slot:
		return twoLines
	}
	for i := range oneLine {
		oneLine[i].Label, _ = fit(oneLine[i].Label, sty.Font.Size, 80)
	}
	sty.Font.Size = 7
	sty.Rotation = math.Pi / 6
	sty.XAlign, sty.YAlign = draw.XRight, draw.YTop
	return oneLine
}
