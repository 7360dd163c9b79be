package report

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A style determines the appearance of one curve in every panel.
type style struct {
	color  color.Color
	dashes []vg.Length
	glyph  draw.GlyphDrawer
}

// styleOf returns the style with index i. Colours repeat after eight styles and dashes
// after seven, so the first 56 styles are distinct.
func styleOf(i int) style {
	colors := []color.RGBA{
		{0x00, 0x72, 0xB2, 0xFF}, // blue
		{0xD5, 0x5E, 0x00, 0xFF}, // vermillion
		{0x00, 0x9E, 0x73, 0xFF}, // bluish green
		{0xCC, 0x79, 0xA7, 0xFF}, // reddish purple
		{0xE6, 0x9F, 0x00, 0xFF}, // orange
		{0x56, 0xB4, 0xE9, 0xFF}, // sky blue
		{0x00, 0x00, 0x00, 0xFF}, // black
		{0xF0, 0xE4, 0x42, 0xFF}, // yellow
	}
	dashes := [][]vg.Length{nil, {6, 2}, {2, 2}, {8, 2, 2, 2}, {4, 4}, {10, 2, 2, 2, 2, 2}, {1, 3}}
	glyphs := []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, diamond{},
		draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{},
	}
	return style{colors[i%len(colors)], dashes[i%len(dashes)], glyphs[i%len(glyphs)]}
}

func (s style) line() draw.LineStyle {
	return draw.LineStyle{Color: s.color, Width: 1.4, Dashes: s.dashes}
}

func (s style) mark() draw.GlyphStyle {
	return draw.GlyphStyle{Color: s.color, Radius: 2.6, Shape: s.glyph}
}

// A diamond is a filled square turned by 45 degrees.
type diamond struct{}

// DrawGlyph implements [draw.GlyphDrawer].
func (diamond) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	r := sty.Radius * 1.3
	c.FillPolygon(sty.Color, []vg.Point{{X: pt.X - r, Y: pt.Y}, {X: pt.X, Y: pt.Y + r}, {X: pt.X + r, Y: pt.Y}, {X: pt.X, Y: pt.Y - r}})
}

// names returns the names of the curves in all panels, in the order of their styles. The names
// in f.Order come first, and the others follow in the order of their first appearance. Names in
// f.Order have a style even if the figure has no such curve.
func (f Figure) names() []string {
	names := slices.Clone(f.Order)
	for _, p := range f.Panels {
		for _, c := range p.Curves {
			if !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

// present returns the names that have a curve in some panel, and their styles.
func (f Figure) present() (names []string, styles map[string]style) {
	styles = make(map[string]style)
	for i, name := range f.names() {
		if slices.ContainsFunc(f.Panels, func(p Panel) bool {
			return !p.Heat && !p.Forest && slices.ContainsFunc(p.Curves, func(c Curve) bool { return c.Name == name })
		}) {
			names = append(names, name)
			styles[name] = styleOf(i)
		}
	}
	return names, styles
}

// words returns the style for text of the given size.
func words(size vg.Length) text.Style {
	return text.Style{
		Color:   color.Black,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		Handler: text.Plain{Fonts: font.DefaultCache},
	}
}

// fit returns line and its style, adjusted so that the text fits into width. It first reduces
// the size and then shortens the text.
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

// hex returns c in the hexadecimal notation of the web.
func hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
