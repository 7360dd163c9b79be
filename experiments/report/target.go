package report

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A target is the area of a drawn point with a description. The coordinates of the area start
// at the lower left corner. A page shows the description and links the area to the point's row.
type target struct {
	at   vg.Rectangle
	text string
	row  string
}

// mostTargets is the maximum number of points in a figure with targets.
const mostTargets = 5000

// targets returns a target for each point of p, which pl has drawn on c.
func (p Panel) targets(pl *plot.Plot, c draw.Canvas) (all []target) {
	data := pl.DataCanvas(c)
	tx, ty := pl.Transforms(&data)
	around := func(x, y float64) vg.Rectangle {
		const r = 5
		return vg.Rectangle{Min: vg.Point{X: tx(x) - r, Y: ty(y) - r}, Max: vg.Point{X: tx(x) + r, Y: ty(y) + r}}
	}
	between := func(x1, y1, x2, y2 float64) vg.Rectangle {
		return vg.Rectangle{Min: vg.Point{X: tx(x1), Y: ty(min(y1, y2))}, Max: vg.Point{X: tx(x2), Y: ty(max(y1, y2))}}
	}
	for i, curve := range p.Curves {
		if p.Groups == nil && len(curve.Points) > dense {
			continue
		}
		for _, pt := range curve.Points {
			var at vg.Rectangle
			switch {
			case p.Heat:
				at = between(pt.X-0.5, float64(i)-0.5, pt.X+0.5, float64(i)+0.5)
			case p.Forest:
				at = around(pt.Mean, float64(len(p.Groups))-1-pt.X)
			case p.Groups != nil:
				left, width := barAt(pt.X, i, len(p.Curves))
				at = between(left, 0, left+width, pt.Mean)
				at.Min.Y, at.Max.Y = at.Min.Y-2, at.Max.Y+2 // minimum height, so that users can point at a bar of height 0
			default:
				one := Panel{LogX: p.LogX, LogY: p.LogY, Curves: []Curve{{Points: []Point{pt}}}}.logged().Curves[0].Points
				if len(one) == 0 {
					continue // points that are not drawn have no target
				}
				at = around(one[0].X, one[0].Mean)
			}
			all = append(all, target{at, p.tell(curve.Name, pt), pt.Row})
		}
	}
	return all
}

// tell describes a point by its curve, position, value, interval and number of
// replications.
func (p Panel) tell(curve string, pt Point) string {
	var where []string
	if p.Groups != nil {
		where = append(where, p.Groups[int(pt.X)])
		if p.Heat && p.X != "" {
			where = []string{p.X + " " + p.Groups[int(pt.X)], p.Y + " " + curve}
		} else if !p.Forest {
			where = append(where, curve)
		}
	} else {
		where = append(where, curve, p.X+" "+Maybe(pt.X).String())
	}
	s := p.Title + ", " + strings.Join(where, ", ") + ": " + Maybe(pt.Mean).String()
	if p.Y != "" && !p.Heat && !strings.Contains(p.Title, p.Y) {
		s += " " + p.Y
	}
	if pt.Lo < pt.Hi {
		s += fmt.Sprintf(", 95 %% interval %v to %v", Maybe(pt.Lo), Maybe(pt.Hi))
	}
	if pt.N > 0 {
		s += fmt.Sprintf(", n %d", pt.N)
	}
	return clean(strings.TrimPrefix(s, ", "))
}

// linked adds targets to a figure of the given height. Each target has a description and a link
// to the row of its point.
func linked(svg []byte, targets []target, height vg.Length) []byte {
	if len(targets) == 0 || len(targets) > mostTargets {
		return svg
	}
	length := func(x vg.Length) string {
		return strconv.FormatFloat(math.Round(x.Points()*100)/100, 'f', -1, 64)
	}
	var b bytes.Buffer
	b.WriteString(`<g class="points">` + "\n")
	for _, t := range targets {
		text := html.EscapeString(t.text)
		if t.row != "" {
			fmt.Fprintf(&b, `<a href="#%s" aria-label="%s">`, t.row, text)
		}
		fmt.Fprintf(&b, `<rect x="%s" y="%s" width="%s" height="%s"><title>%s</title></rect>`,
			length(t.at.Min.X), length(height-t.at.Max.Y), length(t.at.Max.X-t.at.Min.X), length(t.at.Max.Y-t.at.Min.Y), text)
		if t.row != "" {
			b.WriteString("</a>")
		}
		b.WriteByte('\n')
	}
	b.WriteString("</g>\n</svg>")
	end := bytes.LastIndex(svg, []byte("</svg>"))
	return append(append(svg[:end:end], b.Bytes()...), svg[end+len("</svg>"):]...)
}
