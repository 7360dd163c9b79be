package report

import (
	"bytes"
	"encoding/csv"
	"strconv"

	"bourse/experiments/results"
)

// A Figure is panels in a grid under one legend.
type Figure struct {
	Name    string // of its files, without extension
	Title   string
	Caption string // a sentence below; may be empty
	Across  int    // panels in a row; 0 is 2
	Panels  []Panel

	// Order fixes which colour each curve has, by name, so that a policy looks
	// the same in every figure. Others follow in order of appearance.
	Order []string
}

// A Panel is one set of axes: lines over x or, where Groups are named, bars. A
// point of a bar panel belongs to the group whose index is its X.
type Panel struct {
	Title, X, Y string
	Groups      []string
	Curves      []Curve

	// Lo and Hi are the ends of the y axis. It reaches further where a mean lies
	// beyond. Both zero: from the data, zero included.
	Lo, Hi float64
}

// A Curve is one policy's points in the order in which they are joined.
type Curve struct {
	Name   string
	Points []Point
}

// A Point is a mean with its interval; both ends equal the mean where none is
// known. A point that does not exist is left out.
type Point struct{ X, Mean, Lo, Hi float64 }

// CSV returns the numbers that the figure shows: panel, curve, x (a group's name
// in a bar panel), mean, lo, hi.
func (f Figure) CSV() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{"panel", "curve", "x", "mean", "lo", "hi"}) // a Buffer does not fail
	for _, p := range f.Panels {
		for _, c := range p.Curves {
			for _, pt := range c.Points {
				x := shortest(pt.X)
				if p.Groups != nil {
					x = cell(p.Groups[int(pt.X)])
				}
				w.Write([]string{cell(p.Title), cell(c.Name), x, shortest(pt.Mean), shortest(pt.Lo), shortest(pt.Hi)})
			}
		}
	}
	w.Flush()
	return b.Bytes()
}

func cell(s string) string { return results.SafeText(clean(s)) }

func shortest(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// A Datum is one point on its way into a panel. Mean may be nil, as may both
// ends.
type Datum struct {
	Panel, Curve string
	Group        string  // bars
	X            float64 // lines
	Mean, Lo, Hi *float64
}

// Lines returns a panel of lines for each panel that data names: x may be any
// value that was swept. Panels and curves are in order of appearance.
func Lines(data []Datum) []Panel { return panels(data, false) }

// Bars returns a panel of grouped bars for each panel that data names. Panels,
// groups and curves are in order of appearance.
func Bars(data []Datum) []Panel { return panels(data, true) }

func panels(data []Datum, bars bool) []Panel {
	var all []Panel
	for _, title := range distinct(data, func(d Datum) string { return d.Panel }) {
		var own []Datum
		for _, d := range data {
			if d.Panel == title {
				own = append(own, d)
			}
		}
		p := Panel{Title: title}
		if bars {
			p.Groups = distinct(own, func(d Datum) string { return d.Group })
		}
		for _, name := range distinct(own, func(d Datum) string { return d.Curve }) {
			p.Curves = append(p.Curves, Curve{name, points(own, name, p.Groups)})
		}
		all = append(all, p)
	}
	return all
}

// points returns the points of one curve; with groups, X is the group's index.
func points(data []Datum, curve string, groups []string) []Point {
	index := make(map[string]int)
	for i, g := range groups {
		index[g] = i
	}
	var pts []Point
	for _, d := range data {
		if d.Curve != curve || d.Mean == nil {
			continue
		}
		p := Point{d.X, *d.Mean, *d.Mean, *d.Mean}
		if groups != nil {
			p.X = float64(index[d.Group])
		}
		if d.Lo != nil && d.Hi != nil {
			p.Lo, p.Hi = *d.Lo, *d.Hi
		}
		pts = append(pts, p)
	}
	return pts
}

// A File is a file to be written.
type File struct {
	Name string
	Data []byte
}

// Files returns the figure as SVG and PNG, and the numbers beside them as CSV.
func (f Figure) Files() ([]File, error) {
	svg, err := f.SVG()
	if err != nil {
		return nil, err
	}
	png, err := f.PNG()
	if err != nil {
		return nil, err
	}
	return []File{{f.Name + ".svg", svg}, {f.Name + ".png", png}, {f.Name + ".csv", f.CSV()}}, nil
}
