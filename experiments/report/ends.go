package report

import (
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// nameEnds writes the name of each line at its end, so that readers need not search in the
// legend. It moves names apart if they would overlap. If there is only one line, or if there
// are too many lines for the height of the panel, it writes no names.
func (p Panel) nameEnds(pl *plot.Plot, styles map[string]style) error {
	const size, gap, most = 7, 8, 60 // in points
	type end struct {
		name  string
		at    plotter.XY
		style text.Style
		y, to vg.Length // height of the line's end, and height of its name
	}
	lo, hi := p.yRange()
	scale := (panelHeight - 60) / vg.Length(hi-lo) // points per unit; the axis is approximately this long
	var ends []*end
	for _, c := range p.Curves {
		if len(c.Points) == 0 || c.Name == "" {
			continue
		}
		last := slices.MaxFunc(c.Points, func(a, b Point) int {
			if a.X < b.X {
				return -1
			}
			return 1
		})
		e := &end{at: plotter.XY{X: last.X, Y: last.Mean}, y: vg.Length(last.Mean) * scale}
		e.name, e.style = fit(endName(c.Name), size, most)
		e.style.Color, e.style.YAlign = darker(styles[c.Name].color), draw.YCenter
		ends = append(ends, e)
	}
	if len(ends) < 2 || len(ends) > mostLines {
		return nil
	}
	slices.SortStableFunc(ends, func(a, b *end) int {
		if a.y < b.y {
			return -1
		}
		return 1
	})
	spread := func(from int) { // moves names up from position from
		for i := from; i < len(ends); i++ {
			ends[i].to = ends[i].y
			if i > 0 {
				ends[i].to = max(ends[i].y, ends[i-1].to+gap)
			}
		}
	}
	spread(0)
	top := vg.Length(hi)*scale + 2
	for i := len(ends) - 1; i >= 0 && ends[i].to > top; i-- { // move names that are above the panel down
		ends[i].to, top = top, top-gap
	}
	for _, e := range ends {
		l, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{e.at}, Labels: []string{e.name}})
		if err != nil {
			return err
		}
		l.TextStyle[0], l.Offset = e.style, vg.Point{X: 7, Y: e.to - e.y}
		pl.Add(l)
	}
	return nil
}

// endName returns a name without the names of axes, which are in the legend: "SAC, 60" for
// "SAC, market.window 60".
func endName(name string) string {
	parts := strings.Split(name, ", ")
	for i := 1; i < len(parts); i++ {
		parts[i] = parts[i][strings.LastIndexByte(parts[i], ' ')+1:]
	}
	return strings.Join(parts, ", ")
}

// darker returns a shade of c that is readable as text on white.
func darker(c color.Color) color.Color {
	r, g, b, _ := c.RGBA()
	const part = 0.6
	dim := func(x uint32) uint8 { return uint8(float64(x>>8) * part) }
	return color.RGBA{dim(r), dim(g), dim(b), 0xFF}
}
