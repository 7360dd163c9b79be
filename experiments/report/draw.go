package report

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	panelWidth  = 3.5 * vg.Inch
	panelHeight = 2.5 * vg.Inch
	titleHeight = 22 // points
	legendLine  = 16 // points
	thumbWidth  = 26 // points
	dpi         = 144
)

// SVG returns the figure as a document.
func (f Figure) SVG() ([]byte, error) {
	w, h := f.size()
	c := vgsvg.New(w, h)
	if err := f.draw(draw.New(c)); err != nil {
		return nil, fmt.Errorf("draw %s: %w", f.Name, err)
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("draw %s: %w", f.Name, err)
	}
	// Few machines have the font that was measured; these are as wide.
	return bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")), nil
}

// PNG returns the figure as an image of 144 dots an inch.
func (f Figure) PNG() ([]byte, error) {
	w, h := f.size()
	c := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))
	if err := f.draw(draw.New(c)); err != nil {
		return nil, fmt.Errorf("draw %s: %w", f.Name, err)
	}
	var b bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(&b); err != nil {
		return nil, fmt.Errorf("draw %s: %w", f.Name, err)
	}
	return b.Bytes(), nil
}

// grid returns the number of columns and rows of panels.
func (f Figure) grid() (cols, rows int) {
	cols = f.Across
	if cols <= 0 {
		cols = 2
	}
	cols = max(1, min(cols, len(f.Panels)))
	return cols, max(1, (len(f.Panels)+cols-1)/cols)
}

func (f Figure) size() (w, h vg.Length) {
	cols, rows := f.grid()
	w = vg.Length(cols) * panelWidth
	return w, vg.Length(rows)*panelHeight + titleHeight + vg.Length(len(f.legend(w)))*legendLine + 6
}

// draw draws title, legend and panels, from the top down.
func (f Figure) draw(c draw.Canvas) error {
	c.FillPolygon(color.White, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
	title, sty := fit(f.Title, 11, c.Max.X-c.Min.X-12)
	c.FillText(aligned(sty, draw.XCenter, draw.YCenter), vg.Point{X: c.Center().X, Y: c.Max.Y - titleHeight/2}, title)
	_, styles := f.present()
	lines := f.legend(c.Max.X - c.Min.X)
	for i, names := range lines {
		f.drawLegend(draw.Crop(c, 0, 0, 0, -titleHeight-vg.Length(i)*legendLine), names, styles)
	}
	return f.drawPanels(draw.Crop(c, 6, -10, 4, -titleHeight-vg.Length(len(lines))*legendLine-2), styles)
}

// legend divides the names over as many lines as they need.
func (f Figure) legend(width vg.Length) [][]string {
	names, _ := f.present()
	if len(names) == 0 {
		return nil
	}
	lines, used := [][]string{nil}, vg.Length(0)
	for _, name := range names {
		w := entryWidth(name)
		if used > 0 && used+w > width-12 {
			lines, used = append(lines, nil), 0
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], name)
		used += w
	}
	return lines
}

func entryWidth(name string) vg.Length { return thumbWidth + 6 + words(9).Width(clean(name)) + 18 }

// drawLegend draws one line of names, centred at the top of c.
func (f Figure) drawLegend(c draw.Canvas, names []string, styles map[string]style) {
	var width vg.Length
	for _, name := range names {
		width += entryWidth(name)
	}
	sty := words(9)
	sty.YAlign = draw.YCenter
	x, y := c.Center().X-(width-18)/2, c.Max.Y-legendLine/2
	for _, name := range names {
		s := styles[name]
		icon := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: x, Y: y - 4}, Max: vg.Point{X: x + thumbWidth, Y: y + 4},
		}}
		if f.hasBars() {
			icon.FillPolygon(s.color, []vg.Point{{X: x, Y: y - 4}, {X: x + 8, Y: y - 4}, {X: x + 8, Y: y + 4}, {X: x, Y: y + 4}})
			icon.Min.X += 10
		}
		if f.hasLines() {
			icon.StrokeLine2(s.line(), icon.Min.X, y, icon.Max.X, y)
			icon.DrawGlyphNoClip(s.mark(), vg.Point{X: icon.Center().X, Y: y})
			x += thumbWidth + 6
		} else {
			x += 14
		}
		c.FillText(sty, vg.Point{X: x, Y: y}, clean(name))
		x += sty.Width(clean(name)) + 18
	}
}

func (f Figure) hasBars() bool {
	for _, p := range f.Panels {
		if p.Groups != nil {
			return true
		}
	}
	return false
}

func (f Figure) hasLines() bool {
	for _, p := range f.Panels {
		if p.Groups == nil {
			return true
		}
	}
	return false
}

func (f Figure) drawPanels(c draw.Canvas, styles map[string]style) error {
	cols, rows := f.grid()
	plots := make([][]*plot.Plot, rows)
	for r := range plots {
		plots[r] = make([]*plot.Plot, cols)
		for i := range cols {
			n := r*cols + i
			if n >= len(f.Panels) {
				continue
			}
			p, err := f.Panels[n].plot(styles)
			if err != nil {
				return fmt.Errorf("panel %q: %w", f.Panels[n].Title, err)
			}
			plots[r][i] = p
		}
	}
	align(plots, draw.Tiles{Cols: cols, Rows: rows, PadX: 14, PadY: 10}, c)
	return nil
}

// align draws the plots so that the axes of a row are level and those of a
// column begin and end together. Every plot stays within its tile, which those of
// plot.Align do not where their labels differ in size.
func align(plots [][]*plot.Plot, tiles draw.Tiles, c draw.Canvas) {
	left, right := make([]vg.Length, tiles.Cols), make([]vg.Length, tiles.Cols)
	below, above := make([]vg.Length, tiles.Rows), make([]vg.Length, tiles.Rows)
	margins := func(p *plot.Plot, tile draw.Canvas) (l, r, b, a vg.Length) {
		data := p.DataCanvas(tile)
		return data.Min.X - tile.Min.X, tile.Max.X - data.Max.X, data.Min.Y - tile.Min.Y, tile.Max.Y - data.Max.Y
	}
	for row := range plots {
		for col, p := range plots[row] {
			if p != nil {
				l, r, b, a := margins(p, tiles.At(c, col, row))
				left[col], right[col] = max(left[col], l), max(right[col], r)
				below[row], above[row] = max(below[row], b), max(above[row], a)
			}
		}
	}
	for row := range plots {
		for col, p := range plots[row] {
			if p != nil {
				tile := tiles.At(c, col, row)
				l, r, b, a := margins(p, tile)
				p.Draw(draw.Crop(tile, left[col]-l, r-right[col], below[row]-b, a-above[row]))
			}
		}
	}
}

// plot returns the panel's axes and everything on them.
func (p Panel) plot(styles map[string]style) (*plot.Plot, error) {
	pl := plot.New()
	pl.BackgroundColor = nil
	pl.Title.Text, pl.Title.TextStyle = fit(p.Title, 10, panelWidth-60)
	pl.X.Label.Text, pl.X.Label.TextStyle = fit(p.X, 9, panelWidth-60)
	pl.Y.Label.Text, pl.Y.Label.TextStyle = fit(p.Y, 9, panelHeight/2) // the axis must not be shorter
	pl.Title.TextStyle, pl.Title.Padding = aligned(pl.Title.TextStyle, draw.XCenter, draw.YTop), 5
	pl.X.Label.TextStyle = aligned(pl.X.Label.TextStyle, draw.XCenter, draw.YBottom)
	pl.Y.Label.TextStyle = aligned(pl.Y.Label.TextStyle, draw.XCenter, draw.YBottom)
	pl.X.Tick.Label = aligned(words(8), draw.XCenter, draw.YTop)
	pl.Y.Tick.Label = aligned(words(8), draw.XRight, draw.YCenter)
	pl.X.Tick.Marker, pl.Y.Tick.Marker = ticker{}, ticker{}
	pl.X.Tick.Length, pl.Y.Tick.Length = 4, 4
	pl.X.Padding, pl.Y.Padding = 0, 0

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
	if pl.Y.Min < 0 {
		zero, err := plotter.NewLine(plotter.XYs{{X: pl.X.Min, Y: 0}, {X: pl.X.Max, Y: 0}})
		if err != nil {
			return nil, err
		}
		zero.LineStyle = draw.LineStyle{Color: color.Black, Width: 0.5}
		pl.Add(zero)
	}
	return pl, nil
}

// fit returns line as it fits into width, and its style: of the given size, or
// smaller, or cut.
func fit(line string, size, width vg.Length) (string, text.Style) {
	s := words(size)
	line = clean(line)
	for s.Width(line) > width && s.Font.Size > 7 {
		s.Font.Size -= 0.5
	}
	for runes := []rune(line); s.Width(line) > width && len(runes) > 1; {
		runes = runes[:len(runes)-1]
		line = string(runes) + "…"
	}
	return line, s
}

func aligned(s text.Style, x text.XAlignment, y text.YAlignment) text.Style {
	s.XAlign, s.YAlign = x, y
	return s
}

// addLines adds the curves, each a little to the side of the one before, so that
// their error bars do not hide one another.
func (p Panel) addLines(pl *plot.Plot, styles map[string]style) error {
	lo, hi := p.xRange()
	nudge := (hi - lo) * min(0.008, 0.04/float64(max(1, len(p.Curves))))
	for i, c := range p.Curves {
		if len(c.Points) == 0 {
			continue
		}
		s := styles[c.Name]
		xys := make(plotter.XYs, len(c.Points))
		for j, pt := range c.Points {
			xys[j] = plotter.XY{X: pt.X + nudge*(float64(i)-float64(len(p.Curves)-1)/2), Y: pt.Mean}
		}
		line, marks, err := plotter.NewLinePoints(xys)
		if err != nil {
			return err
		}
		line.LineStyle, marks.GlyphStyle = s.line(), s.mark()
		bars, err := errorBars(xys, c.Points, s.color)
		if err != nil {
			return err
		}
		pl.Add(bars, line, marks)
	}
	pl.X.Min, pl.X.Max = lo-(hi-lo)*0.04, hi+(hi-lo)*0.04
	return nil
}

// addBars adds a bar for each point, side by side within its group. A bar of no
// height is a stroke on the axis; a missing one is nothing.
func (p Panel) addBars(pl *plot.Plot, styles map[string]style) error {
	step := 0.8 / float64(max(1, len(p.Curves)))
	width := step * 0.9
	for i, c := range p.Curves {
		if len(c.Points) == 0 {
			continue
		}
		s := styles[c.Name]
		xys := make(plotter.XYs, len(c.Points))
		for j, pt := range c.Points {
			left := pt.X - 0.4 + step*float64(i)
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
		bars, err := errorBars(xys, c.Points, color.Gray{0x30})
		if err != nil {
			return err
		}
		pl.Add(bars)
	}
	pl.X.Min, pl.X.Max = -0.5, float64(len(p.Groups))-0.5
	pl.X.Tick.Marker = p.nameGroups(&pl.X.Tick.Label)
	return nil
}

// nameGroups returns marks that name the groups: side by side, on two lines if
// need be, else slanting.
func (p Panel) nameGroups(sty *text.Style) plot.ConstantTicks {
	slot := (panelWidth - 50) / vg.Length(max(1, len(p.Groups)))
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

// errorBars returns the intervals of pts at the places of xys.
func errorBars(xys plotter.XYs, pts []Point, c color.Color) (*plotter.YErrorBars, error) {
	errs := make(plotter.YErrors, len(pts))
	for i, pt := range pts {
		errs[i].Low, errs[i].High = pt.Mean-pt.Lo, pt.Hi-pt.Mean
	}
	bars, err := plotter.NewYErrorBars(struct {
		plotter.XYs
		plotter.YErrors
	}{xys, errs})
	if err != nil {
		return nil, err
	}
	bars.LineStyle = draw.LineStyle{Color: c, Width: 0.8}
	bars.CapWidth = 4
	return bars, nil
}
