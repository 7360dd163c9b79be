package report

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"html"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	panelWidth  = 3.5 * vg.Inch
	panelHeight = 2.5 * vg.Inch
	margin      = 6   // space at the top and at the bottom, in points
	dpi         = 300 // resolution of PNG files

	leastPanel = 1.78 * vg.Inch // minimum width; narrower panels have no space for their labels
)

// width returns the width with which p is drawn.
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

// svg returns the figure as an SVG document and the positions of its points.
func (f Figure) svg() (svg []byte, targets []target, err error) {
	w, h := f.size()
	svg, err = drawSVG(w, h, f.Said(), func(c draw.Canvas) error {
		targets, err = f.draw(c)
		return err
	})
	return svg, targets, err
}

// drawSVG returns an SVG document of the drawing by draw, with a description.
func drawSVG(w, h vg.Length, said string, paint func(draw.Canvas) error) ([]byte, error) {
	c := vgsvg.NewWith(vgsvg.UseWH(w, h))
	if err := paint(draw.New(c)); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, err
	}
	// The document lists several fonts, because few machines have the first one. The other
	// fonts have the same widths.
	svg := bytes.ReplaceAll(b.Bytes(), []byte("<g transform=\"scale"), []byte("<desc>"+html.EscapeString(clean(said))+"</desc>\n<g transform=\"scale"))
	return bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans;"),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")), nil
}

// png returns the figure as an image that contains its resolution.
func (f Figure) png() ([]byte, error) {
	w, h := f.size()
	c := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))
	if _, err := f.draw(draw.New(c)); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(&b); err != nil {
		return nil, err
	}
	const header = 8 + 25 // length of the signature and the chunk IHDR, which must come first
	perMetre := uint32(math.Round(dpi / 0.0254))
	chunk := binary.BigEndian.AppendUint32([]byte("pHYs"), perMetre)
	chunk = append(binary.BigEndian.AppendUint32(chunk, perMetre), 1)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk))
	return slices.Insert(b.Bytes(), header, append([]byte{0, 0, 0, 9}, chunk...)...), nil
}

// grid returns the number of columns and the number of rows of panels.
func (f Figure) grid() (cols, rows int) {
	cols = f.Across
	if cols <= 0 {
		cols = 2
	}
	if f.Width > 0 {
		cols = min(cols, int(f.width()/leastPanel))
	}
	cols = max(1, min(cols, len(f.Panels)))
	return cols, max(1, (len(f.Panels)+cols-1)/cols)
}

// width returns the width of f in print, or 0 if f is for a screen.
func (f Figure) width() vg.Length { return vg.Length(f.Width) * vg.Millimeter }

func (f Figure) size() (w, h vg.Length) {
	if p, ok := f.specification(); ok {
		return specificationWidth, p.specificationHeight()
	}
	cols, rows := f.grid()
	if w = f.width(); w == 0 {
		w = vg.Length(cols) * panelWidth
	}
	return w, vg.Length(rows)*panelHeight + vg.Length(len(f.legend(w)))*legendLine + 2*margin
}

// draw draws the legend and the panels from top to bottom. It returns the positions of the
// points. It does not draw the title, which belongs in the caption.
func (f Figure) draw(c draw.Canvas) ([]target, error) {
	c.FillPolygon(color.White, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
	if p, ok := f.specification(); ok {
		return p.drawSpecification(c), nil
	}
	_, styles := f.present()
	return f.drawPanels(draw.Crop(c, 6, -10, 4, -f.drawLegend(c)-margin), styles)
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
			panel := f.drawn(n)
			panel.wide = (c.Max.X - c.Min.X + 16) / vg.Length(cols) // width including the margins
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
