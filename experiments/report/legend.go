package report

import (
	"slices"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// These are the sizes of a legend in points.
const (
	legendLine = 16 // line height
	lineIcon   = 26 // length of a line segment with its glyph
	barIcon    = 8  // side of a square
	iconGap    = 6  // space between an icon and its name
	entryGap   = 18 // space between a name and the next icon
)

// legend divides the names into lines that fit into the width.
func (f Figure) legend(width vg.Length) [][]string {
	names, _ := f.present()
	if f.bare {
		names = nil
	}
	var lines [][]string
	var used vg.Length
	for _, name := range names {
		w := f.iconWidth() + f.entryWidth(name)
		if lines == nil || used+w > width {
			lines, used = append(lines, nil), 0
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], name)
		used += w
	}
	return lines
}

// iconWidth returns the width of an entry's icon: a square, a line segment, or both.
func (f Figure) iconWidth() vg.Length {
	bars := slices.ContainsFunc(f.Panels, func(p Panel) bool { return p.Groups != nil })
	lines := slices.ContainsFunc(f.Panels, func(p Panel) bool { return p.Groups == nil })
	switch {
	case bars && lines:
		return barIcon + 2 + lineIcon
	case bars:
		return barIcon
	default:
		return lineIcon
	}
}

// entryWidth returns the width of an entry without the icon.
func (f Figure) entryWidth(name string) vg.Length {
	name, sty := f.entryName(name)
	return iconGap + sty.Width(name) + entryGap
}

// entryName returns the legend text of a curve, which consists of its name and description,
// and the text style.
func (f Figure) entryName(name string) (string, text.Style) {
	first, rest, more := strings.Cut(name, ", ")
	if words := f.Words[name]; words != "" {
		name += " (" + words + ")"
	} else if words := f.Words[first]; words != "" && more {
		name = first + " (" + words + "), " + rest
	}
	return fit(name, 9, panelWidth-60)
}

// drawLegend draws the names in centred lines at the top of c. It returns the height of
// these lines.
func (f Figure) drawLegend(c draw.Canvas) vg.Length {
	_, styles := f.present()
	lines, icon := f.legend(c.Max.X-c.Min.X), f.iconWidth()
	y := c.Max.Y - margin/2 + legendLine/2
	for _, names := range lines {
		width := -vg.Length(entryGap)
		for _, name := range names {
			width += icon + f.entryWidth(name)
		}
		x := c.Center().X - width/2
		y -= legendLine
		for _, name := range names {
			s, left := styles[name], x
			if icon != lineIcon {
				c.FillPolygon(s.color, []vg.Point{{X: x, Y: y - 4}, {X: x + barIcon, Y: y - 4}, {X: x + barIcon, Y: y + 4}, {X: x, Y: y + 4}})
				left += barIcon + 2
			}
			if right := x + icon; icon != barIcon {
				c.StrokeLine2(s.line(), left, y, right, y)
				c.DrawGlyphNoClip(s.mark(), vg.Point{X: (left + right) / 2, Y: y})
			}
			label, sty := f.entryName(name)
			sty.YAlign = draw.YCenter
			c.FillText(sty, vg.Point{X: x + icon + iconGap, Y: y}, label)
			x += icon + f.entryWidth(name)
		}
	}
	return vg.Length(len(lines)) * legendLine
}
