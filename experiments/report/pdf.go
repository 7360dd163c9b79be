package report

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"math"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// pdf returns the figure as a PDF document with one page of the figure's size. It embeds only
// the glyphs that occur in the figure.
func (f Figure) pdf() ([]byte, error) {
	w, h := f.size()
	doc := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: w.Points(), Ht: h.Points()}})
	doc.SetTitle(clean(f.Title), true)
	doc.SetSubject(clean(f.Said()), true)
	doc.SetCreationDate(time.Unix(0, 0)) // a fixed date, so that the same figure always results in the same bytes
	doc.SetModificationDate(time.Unix(0, 0))
	doc.SetCatalogSort(true)
	doc.SetAutoPageBreak(false, 0)
	doc.AddPage()
	if _, err := f.draw(draw.NewCanvas(&pdfCanvas{doc: doc, height: h}, w, h)); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := doc.Output(&b); err != nil {
		return nil, err
	}
	// The name of a font subset must begin with six capitals and a plus sign. The library
	// writes a name without this prefix.
	return bytes.ReplaceAll(b.Bytes(), []byte("utf8"+pdfFont), []byte("BOURSE+LiberationSans")), nil
}

// pdfFont is the name that the library gives the font. It starts with two of the six letters
// that must precede the name of a subset.
const pdfFont = "aa+liberationsans"

// A pdfCanvas draws on a page of the given height. The library measures positions from the top
// of a page, but vg measures them from the bottom. The package vgpdf of gonum/plot is not
// used, because it embeds whole fonts and has no Greek letters.
type pdfCanvas struct {
	doc    *fpdf.Fpdf
	height vg.Length
	width  vg.Length // line width
}

func (c *pdfCanvas) at(p vg.Point) (x, y float64) { return p.X.Points(), (c.height - p.Y).Points() }

func (c *pdfCanvas) SetLineWidth(w vg.Length) {
	c.width = w
	c.doc.SetLineWidth(w.Points())
}

func (c *pdfCanvas) SetLineDash(dashes []vg.Length, offset vg.Length) {
	pattern := make([]float64, len(dashes))
	for i, d := range dashes {
		pattern[i] = d.Points()
	}
	c.doc.SetDashPattern(pattern, offset.Points())
}

func (c *pdfCanvas) SetColor(clr color.Color) {
	if clr == nil {
		clr = color.Black
	}
	r, g, b, _ := clr.RGBA()
	c.doc.SetFillColor(int(r>>8), int(g>>8), int(b>>8))
	c.doc.SetDrawColor(int(r>>8), int(g>>8), int(b>>8))
	c.doc.SetTextColor(int(r>>8), int(g>>8), int(b>>8))
}

func (c *pdfCanvas) Push() { c.doc.TransformBegin() }

func (c *pdfCanvas) Pop() { c.doc.TransformEnd() }

func (c *pdfCanvas) Rotate(radians float64) {
	sin, cos := math.Sincos(radians)
	c.doc.Transform(fpdf.TransformMatrix{A: cos, B: sin, C: -sin, D: cos})
}

func (c *pdfCanvas) Translate(p vg.Point) {
	c.doc.Transform(fpdf.TransformMatrix{A: 1, D: 1, E: p.X.Points(), F: p.Y.Points()})
}

func (c *pdfCanvas) Scale(x, y float64) { c.doc.Transform(fpdf.TransformMatrix{A: x, D: y}) }

// Stroke draws nothing if the line width is 0, because PDF would draw the thinnest possible
// line.
func (c *pdfCanvas) Stroke(p vg.Path) {
	if c.width > 0 {
		c.path(p, "D")
	}
}

func (c *pdfCanvas) Fill(p vg.Path) { c.path(p, "F") }

func (c *pdfCanvas) path(p vg.Path, style string) {
	for _, part := range p {
		x, y := c.at(part.Pos)
		switch part.Type {
		case vg.MoveComp:
			c.doc.MoveTo(x, y)
		case vg.LineComp:
			c.doc.LineTo(x, y)
		case vg.ArcComp:
			r, start, end := part.Radius.Points(), part.Start*180/math.Pi, (part.Start+part.Angle)*180/math.Pi
			c.doc.ArcTo(x, y, r, r, 0, start, end)
		case vg.CloseComp:
			c.doc.ClosePath()
		default:
			c.doc.SetError(fmt.Errorf("found a part of kind %d in a path, want a line or an arc", part.Type))
		}
	}
	c.doc.DrawPath(style)
}

// FillString writes text. All text of a figure uses one font face in several sizes.
func (c *pdfCanvas) FillString(face font.Face, at vg.Point, text string) {
	var source bytes.Buffer
	if _, err := face.Face.WriteSourceTo(nil, &source); err != nil {
		c.doc.SetError(err)
		return
	}
	c.doc.AddUTF8FontFromBytes(pdfFont, "", source.Bytes()) // has an effect only in the first call
	c.doc.SetFont(pdfFont, "", face.Font.Size.Points())
	x, y := c.at(at)
	c.doc.Text(x, y, text)
}

// DrawImage returns an error, because figures contain no images.
func (c *pdfCanvas) DrawImage(vg.Rectangle, image.Image) {
	c.doc.SetError(fmt.Errorf("found an image in a figure, want lines and text"))
}
