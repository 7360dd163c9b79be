package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"bourse/experiments/results"

	"gonum.org/v1/plot/vg"
)

// A Figure is panels in a grid under one legend.
type Figure struct {
	Name    string // of its files, without extension
	Title   string
	Caption string // a sentence below; may be empty
	Across  int    // panels in a row; 0 is 2
	Panels  []Panel

	Style Style             // what it is made for
	Words map[string]string // what the legend says of a curve beside its name, by name; or by its beginning, up to a comma

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

	// Heat colours a cell for each group and curve: the groups lie across and the curves
	// up, and Lo and Hi are the ends of the scale.
	Heat bool

	// Forest draws differences: a row for each group with its point and interval, about a
	// line at 0. Lo and Hi, unless zero, are the ends of what does not matter.
	Forest bool

	// Options make it a specification curve: the points of the first curve in order, and
	// below them which options each has. It is the only panel of its figure. Marked is the
	// point that stands out, less than 0 if none does.
	Options []Option
	Marked  int

	// LogX and LogY draw lines over powers of ten: points at or below 0 are not
	// drawn, and Lo and Hi do not apply to such a y axis.
	LogX, LogY bool

	wide vg.Length // as its figure has it; 0 is panelWidth
}

// A Curve is one policy's points in the order in which they are joined.
type Curve struct {
	Name   string
	Points []Point
}

// A Point is a mean with its interval; both ends equal the mean where none is
// known. A point that does not exist is left out.
type Point struct {
	X, Mean, Lo, Hi float64

	N   int    // replications that it is the mean of; 0 is not said
	Row string // place on the page that has its numbers, an [Anchor]; may be empty
}

// Interval is the sentence of a caption below error bars: [Figure.Said] puts their number
// to it.
const Interval = "Error bars are 95 % intervals of the mean."

// Said returns the caption with the number of replications, and without what it says of
// error bars where there are none: after a single replication.
func (f Figure) Said() string {
	bars, least, most := false, 0, 0
	for _, p := range f.Panels {
		for _, c := range p.Curves {
			for _, pt := range c.Points {
				bars = bars || pt.Lo < pt.Hi
				if pt.N > 0 && (least == 0 || pt.N < least) {
					least = pt.N
				}
				most = max(most, pt.N)
			}
		}
	}
	said, own := strings.CutSuffix(f.Caption, Interval)
	if bars && own {
		said += Interval
	}
	said = strings.TrimSpace(said)
	switch {
	case most == 0:
		return said
	case most == 1:
		return strings.TrimSpace(said + " One replication (n = 1).")
	case least < most:
		return strings.TrimSpace(fmt.Sprintf("%s Means over %d to %d replications (n), where they are defined.", said, least, most))
	}
	return strings.TrimSpace(fmt.Sprintf("%s Means over n = %d replications.", said, most))
}

// Letter puts (a), (b), ... before the titles.
func Letter(panels []Panel) {
	for i := range panels {
		if i < 26 {
			panels[i].Title = "(" + string(rune('a'+i)) + ") " + panels[i].Title
		}
	}
}

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

// A File is a file to be written.
type File struct {
	Name string
	Data []byte
}

// files returns the figure as SVG and PNG, and beside them the numbers as CSV and a
// Vega-Lite specification that draws them.
func (f Figure) files() ([]File, error) {
	svg, err := f.SVG()
	if err != nil {
		return nil, err
	}
	png, err := f.png()
	if err != nil {
		return nil, err
	}
	return []File{{f.Name + ".svg", svg}, {f.Name + ".png", png}, {f.Name + ".csv", f.CSV()}, {f.Name + ".vl.json", f.vega()}}, nil
}
