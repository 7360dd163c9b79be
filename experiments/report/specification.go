package report

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// An Option is one possible choice in one decision. Each result depends on one choice in each
// decision. In a specification curve, an option is a row of marks.
type Option struct {
	Of, Name string // the decision, and the choice in it
	Has      []bool // for each point of the panel's first curve, whether the point results from this choice
}

// These are the sizes of a specification curve.
const (
	specificationWidth = 2 * panelWidth
	curveHeight        = 1.9 * vg.Inch
	optionHeight       = 10 // height of an option, in points
	optionNames        = 1.9 * vg.Inch
)

// specification returns the panel of a specification curve if the figure is one, or nil.
func (f Figure) specification() (p Panel, ok bool) {
	if len(f.Panels) != 1 || f.Panels[0].Options == nil {
		return p, false
	}
	return f.Panels[0], true
}

// rows returns the height of the options, measured in rows. The height includes the gaps
// between decisions.
func (p Panel) rows() (rows float64) {
	for i, o := range p.Options {
		if rows++; i > 0 && o.Of != p.Options[i-1].Of {
			rows += 0.4
		}
	}
	return rows
}

// specificationHeight returns the height of a specification curve.
func (p Panel) specificationHeight() vg.Length {
	return curveHeight + vg.Length(p.rows()*optionHeight) + 12
}

// drawSpecification draws the points of the first curve in order and the options of each
// point below. It returns the positions of the points.
func (p Panel) drawSpecification(c draw.Canvas) (all []target) {
	pts := p.Curves[0].Points
	lo, hi := p.powers()
	plane := draw.Crop(c, optionNames, -8, 0, -8)
	n := float64(max(1, len(pts)))
	x := func(i float64) vg.Length { return plane.Min.X + vg.Length(i/n)*(plane.Max.X-plane.Min.X) }
	base := plane.Max.Y - curveHeight + 8
	y := func(v float64) vg.Length {
		return base + vg.Length(math.Log(max(lo, v)/lo)/math.Log(hi/lo))*(plane.Max.Y-base)
	}
	grid := draw.LineStyle{Color: color.Gray{0xE0}, Width: 0.5}
	label := aligned(words(8), draw.XRight, draw.YCenter)
	for v := lo; v <= hi*(1+tiny); v = next(v) {
		c.StrokeLine2(grid, plane.Min.X, y(v), plane.Max.X, y(v))
		c.FillText(label, vg.Point{X: plane.Min.X - 5, Y: y(v)}, strconv.FormatFloat(v, 'g', 4, 64))
	}
	c.FillText(aligned(words(9), draw.XLeft, draw.YCenter), vg.Point{X: c.Min.X + 4, Y: (base + plane.Max.Y) / 2}, p.Y)
	blue, other := styleOf(0).color, styleOf(1).color
	var spread, curve, marked vg.Path
	half := max(0.3, min(3, (x(1)-x(0))*0.45))
	for i, pt := range pts {
		at := x(float64(i) + 0.5)
		box(&spread, at, half, y(pt.Lo), y(min(hi, pt.Hi)))
		to := &curve
		if p.Marked == i {
			to = &marked
		}
		box(to, at, max(0.8, half), y(pt.Mean)-1.2, y(pt.Mean)+1.2)
		all = append(all, target{vg.Rectangle{Min: vg.Point{X: at - half, Y: y(pt.Mean) - 5}, Max: vg.Point{X: at + half, Y: y(pt.Mean) + 5}}, p.tell(p.Curves[0].Name, pt), pt.Row})
	}
	fill(c, spread, color.RGBA{0xBF, 0xDC, 0xEC, 0xFF})
	fill(c, curve, blue)
	fill(c, marked, other)
	row := base - 8
	for k, o := range p.Options {
		if k > 0 && o.Of != p.Options[k-1].Of {
			row -= 0.4 * optionHeight
		}
		row -= optionHeight
		middle := row + optionHeight/2
		c.StrokeLine2(draw.LineStyle{Color: color.Gray{0xEE}, Width: 0.5}, plane.Min.X, middle, plane.Max.X, middle)
		var marks, own vg.Path
		for i, has := range o.Has {
			switch {
			case has && i == p.Marked:
				box(&own, x(float64(i)+0.5), max(0.8, half), middle-3.5, middle+3.5)
			case has:
				box(&marks, x(float64(i)+0.5), half, middle-3.5, middle+3.5)
			}
		}
		fill(c, marks, color.Gray{0x30})
		fill(c, own, other)
		name, style := fit(o.Name, 8, optionNames*0.55)
		c.FillText(aligned(style, draw.XRight, draw.YCenter), vg.Point{X: plane.Min.X - 5, Y: middle}, name)
		if k == 0 || o.Of != p.Options[k-1].Of {
			name, style := fit(o.Of, 8, optionNames*0.4)
			c.FillText(aligned(style, draw.XLeft, draw.YCenter), vg.Point{X: c.Min.X + 4, Y: middle}, name)
		}
	}
	return all
}

// powers returns the ends of the first curve's logarithmic axis. Each end is 1, 2 or 5
// times a power of ten.
func (p Panel) powers() (lo, hi float64) {
	least, most := math.Inf(1), 0.0
	for _, pt := range p.Curves[0].Points {
		if pt.Mean > 0 {
			least, most = min(least, pt.Mean), max(most, pt.Mean)
		}
	}
	if most == 0 {
		return 1, 10
	}
	for lo = math.Pow(10, math.Floor(math.Log10(least))); next(lo) <= least; {
		lo = next(lo)
	}
	for hi = next(lo); hi < most; {
		hi = next(hi)
	}
	return lo, hi
}

// next returns the number after v in the sequence 1, 2, 5, 10, 20 and so on.
func next(v float64) float64 {
	if math.Abs(math.Mod(math.Log10(v)+20, 1)-math.Log10(2)) < 1e-6 {
		return 2.5 * v
	}
	return 2 * v
}

// box adds a rectangle with the horizontal centre x to a path.
func box(p *vg.Path, x, half, lo, hi vg.Length) {
	p.Move(vg.Point{X: x - half, Y: lo})
	p.Line(vg.Point{X: x + half, Y: lo})
	p.Line(vg.Point{X: x + half, Y: hi})
	p.Line(vg.Point{X: x - half, Y: hi})
	p.Close()
}

func fill(c draw.Canvas, p vg.Path, with color.Color) {
	if len(p) > 0 {
		c.SetColor(with)
		c.Fill(p)
	}
}
