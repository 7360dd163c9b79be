package report

import (
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg/draw"

	"bourse/experiments/results"
)

// mostLines is the maximum number of lines in a panel; with more lines, colours would repeat.
const mostLines = 8

// crowded reports whether a panel would have more lines than people can distinguish. Heat maps
// replace such panels.
func (s Sweep) crowded(rows []results.Summary) bool {
	p := s.plot()
	return len(s.Axes) > 1 && len(distinct(Rows(s.Axes, rows, nil), func(r Row) string { return p.name(p.Color, r) })) > mostLines
}

// Maps returns a figure of heat maps, one for each point of the third and later axes. The
// first axis is along x and the second along y.
func (s Sweep) Maps(name, title string, rows []results.Summary) Figure {
	f := Figure{Name: name, Title: title, Caption: heat, Panels: s.planes(rows), Letters: true}
	f.Across = max(1, min(5, len(f.Panels)/max(1, len(s.metrics(rows)))))
	return f
}

// planes returns a heat map for each metric, configuration, policy and point of the third
// and later axes. The first axis is along x and the second along y. All maps of a metric
// have the same colour scale.
func (s Sweep) planes(rows []results.Summary) []Panel {
	data := Rows(s.Axes, rows, nil)
	p := Plot{X: s.Axes[0], Color: s.Axes[1:2], Facet: []string{ByMetric}, Bars: true}
	for _, d := range []string{ByConfiguration, ByPolicy} {
		if len(Distinct(data, d)) > 1 {
			p.Facet = append(p.Facet, d)
		}
	}
	p.Facet = append(p.Facet, s.Axes[2:]...)
	p.Label = func(dimension, value string) string {
		switch {
		case dimension == ByMetric:
			return s.title(value)
		case dimension == s.Axes[1]:
			return value
		case IsAxis(dimension):
			return s.label(dimension, value)
		}
		return s.Labels.Of(value)
	}
	var all []Panel
	for _, m := range s.metrics(rows) {
		p.Y = []string{m}
		planes := p.Panels(data)
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, plane := range planes {
			for _, c := range plane.Curves {
				for _, pt := range c.Points {
					lo, hi = min(lo, pt.Mean), max(hi, pt.Mean)
				}
			}
		}
		for i := range planes {
			planes[i].X, planes[i].Y, planes[i].Heat = s.Axes[0], s.Axes[1], true
			planes[i].Lo, planes[i].Hi = lo, hi
		}
		all = append(all, planes...)
	}
	return all
}

// planeTables returns tables with the numbers of planes.
func (s Sweep) planeTables(rows []results.Summary) []Table {
	n := 0
	for _, r := range rows {
		n = max(n, r.N)
	}
	var all []Table
	for _, p := range s.planes(rows) {
		t := p.table()
		t.Header[0] = s.Axes[0] + " by " + s.Axes[1]
		t.Note = fmt.Sprintf("The values are means over %d replications. Deviations and intervals are in summary.csv.", n)
		all = append(all, t)
	}
	return all
}

// heat is the caption's sentence about heat maps.
const heat = "The values are means. All maps of a metric have the same colour scale, from dark (low) to light (high)."

// plane draws a heat map. It writes the number of each cell into the cell if the numbers fit.
func (p Panel) plane(pl *plot.Plot) error {
	scale := moreland.ExtendedBlackBody()
	scale.SetMin(p.Lo)
	if scale.SetMax(p.Hi); p.Hi <= p.Lo {
		scale.SetMax(p.Lo + 1)
	}
	labels := plotter.XYLabels{}
	var styles []text.Style
	for row, c := range p.Curves {
		for _, pt := range c.Points {
			x, y := pt.X, float64(row)
			cell, err := plotter.NewPolygon(plotter.XYs{{X: x - 0.5, Y: y - 0.5}, {X: x + 0.5, Y: y - 0.5}, {X: x + 0.5, Y: y + 0.5}, {X: x - 0.5, Y: y + 0.5}})
			if err != nil {
				return err
			}
			fill, err := scale.At(pt.Mean)
			if err != nil {
				return fmt.Errorf("cell %v: %w", pt.Mean, err)
			}
			cell.Color, cell.LineStyle.Width = fill, 0
			pl.Add(cell)
			labels.XYs = append(labels.XYs, plotter.XY{X: x, Y: y})
			labels.Labels = append(labels.Labels, short(pt.Mean))
			styles = append(styles, inCell(fill))
		}
	}
	if len(p.Groups) <= 12 && len(p.Curves) <= 16 && len(styles) > 0 {
		numbers, err := plotter.NewLabels(labels)
		if err != nil {
			return err
		}
		numbers.TextStyle = styles
		pl.Add(numbers)
	}
	pl.X.Min, pl.X.Max, pl.Y.Min, pl.Y.Max = -0.5, float64(len(p.Groups))-0.5, -0.5, float64(len(p.Curves))-0.5
	pl.X.Tick.Marker = p.nameGroups(&pl.X.Tick.Label)
	var ticks plot.ConstantTicks
	for row, c := range p.Curves {
		if row%max(1, len(p.Curves)/16) == 0 {
			name, _ := fit(c.Name, 8, 60)
			ticks = append(ticks, plot.Tick{Value: float64(row), Label: name})
		}
	}
	pl.Y.Tick.Marker = ticks
	return nil
}

// inCell returns a text style that is readable on the colour fill.
func inCell(fill color.Color) text.Style {
	s := aligned(words(6), draw.XCenter, draw.YCenter)
	if color.GrayModel.Convert(fill).(color.Gray).Y < 0x80 {
		s.Color = color.White
	}
	return s
}

// short formats x with at most two significant digits. From 1000 to 99,999, it formats x as
// an integer.
func short(x float64) string {
	if x = unzero(x); math.Abs(x) >= 1000 && math.Abs(x) < 1e5 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strings.NewReplacer("e+0", "e", "e+", "e", "e-0", "e-").Replace(strconv.FormatFloat(x, 'g', 2, 64))
}
