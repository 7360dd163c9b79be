package report

import (
	"bytes"
	"fmt"
	"html"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	panelWidth  = 3.5 * vg.Inch
	panelHeight = 2.5 * vg.Inch
	titleHeight = 22 // points
	dpi         = 144
)

// A Style is the target of a figure. It determines the width, the number of panels in a row,
// and whether fonts are embedded.
type Style string

// The styles. The columns have the widths of most journals, 3.5 and 7.16 inches.
const (
	screen    Style = ""
	oneColumn Style = "one-column"
	twoColumn Style = "two-column"
)

// Styles returns the names of the styles for print.
func Styles() []string { return []string{string(oneColumn), string(twoColumn)} }

// width returns the width of p as drawn.
func (p Panel) width() vg.Length {
	if p.wide > 0 {
		return p.wide
	}
	return panelWidth
}

// SVG returns the figure as an SVG document.
func (f Figure) SVG() ([]byte, error) {
	svg, _, err := f.svg()
	return svg, err
}

// svg returns the figure as an SVG document, and the positions of its points.
func (f Figure) svg() ([]byte, []target, error) {
	w, h := f.size()
	c := vgsvg.NewWith(vgsvg.UseWH(w, h), vgsvg.EmbedFonts(f.Style != screen)) // print must look the same everywhere
	targets, err := f.draw(draw.New(c))
	if err != nil {
		return nil, nil, fmt.Errorf("draw %s: %w", f.Name, err)
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, nil, fmt.Errorf("draw %s: %w", f.Name, err)
	}
	// Few machines have the font that was measured. The substitutes are as wide.
	svg := bytes.ReplaceAll(b.Bytes(), []byte("<g transform=\"scale"), []byte("<desc>"+html.EscapeString(clean(f.Said()))+"</desc>\n<g transform=\"scale"))
	return bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans;"),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")), targets, nil
}

// png returns the figure as an image of 144 dots per inch.
func (f Figure) png() ([]byte, error) {
	w, h := f.size()
	c := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))
	if _, err := f.draw(draw.New(c)); err != nil {
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
	switch f.Style {
	case oneColumn:
		cols = 1
	case twoColumn:
		cols = min(cols, 4) // narrower panels have no room for their labels
	}
	return cols, max(1, (len(f.Panels)+cols-1)/cols)
}

func (f Figure) size() (w, h vg.Length) {
	if p, ok := f.specification(); ok {
		return specificationWidth, titleHeight + p.specificationHeight()
	}
	cols, rows := f.grid()
	w = vg.Length(cols) * panelWidth
	switch f.Style {
	case oneColumn:
		w = 3.5 * vg.Inch
	case twoColumn:
		w = 7.16 * vg.Inch
	}
	return w, vg.Length(rows)*panelHeight + titleHeight + vg.Length(len(f.legend(w)))*legendLine + 6
}

// draw draws title, legend and panels from top to bottom, and returns the positions of points.
func (f Figure) draw(c draw.Canvas) ([]target, error) {
	c.FillPolygon(color.White, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
	title, sty := fit(f.Title, 11, c.Max.X-c.Min.X-12)
	c.FillText(aligned(sty, draw.XCenter, draw.YCenter), vg.Point{X: c.Center().X, Y: c.Max.Y - titleHeight/2}, title)
	if p, ok := f.specification(); ok {
		return p.drawSpecification(draw.Crop(c, 0, 0, 0, -titleHeight)), nil
	}
	_, styles := f.present()
	lines := f.legend(c.Max.X - c.Min.X)
	for i, names := range lines {
		f.drawLegend(draw.Crop(c, 0, 0, 0, -titleHeight-vg.Length(i)*legendLine), names, styles)
	}
	return f.drawPanels(draw.Crop(c, 6, -10, 4, -titleHeight-vg.Length(len(lines))*legendLine-2), styles)
}

func (f Figure) drawPanels(c draw.Canvas, styles map[string]style) (all []target, err error) {
	cols, rows := f.grid()
	plots := make([][]*plot.Plot, rows)
	for r := range plots {
		plots[r] = make([]*plot.Plot, cols)
		for i := range cols {
			n := r*cols + i
			if n >= len(f.Panels) {
				continue
			}
			panel := f.Panels[n]
			panel.wide = (c.Max.X - c.Min.X + 16) / vg.Length(cols) // including its margins
			p, err := panel.plot(styles)
			if err != nil {
				return nil, fmt.Errorf("panel %q: %w", f.Panels[n].Title, err)
			}
			plots[r][i] = p
		}
	}
	drawn := align(plots, draw.Tiles{Cols: cols, Rows: rows, PadX: 14, PadY: 10}, c)
	for n, p := range f.Panels {
		pl := plots[n/cols][n%cols]
		all = append(all, p.targets(pl, drawn[pl])...)
	}
	return all, nil
}
