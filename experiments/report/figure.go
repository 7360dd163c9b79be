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

// A Figure is a grid of panels under one legend.
type Figure struct {
	Name    string // of its files, without extension
	Title   string
	Caption string // a sentence below; may be empty
	Across  int    // panels per row; 0 means 2
	Panels  []Panel

	Style Style             // what it is made for
	Words map[string]string // legend text in addition to a curve's name, by name or by the part of it before a comma

	// Order assigns colours to curves by name, so that a policy has the same colour in every
	// figure. Other curves follow in order of appearance.
	Order []string
}

// A Panel is one set of axes, with lines over x or, if Groups is set, with bars. The X of a
// point in a bar panel is the index of its group.
type Panel struct {
	Title, X, Y string
	Groups      []string
	Curves      []Curve

	// Lo and Hi are the ends of the y axis, which is extended if a mean lies beyond them. If
	// both are zero, the ends follow from the data and include zero.
	Lo, Hi float64

	// Heat draws a coloured cell for each group and curve: groups along x, curves along y. Lo
	// and Hi are the ends of the colour scale.
	Heat bool

	// Forest draws differences: one row per group with its point and interval, and a line at
	// 0. Lo and Hi, unless zero, are the ends of the range that does not matter.
	Forest bool

	// Options makes the panel a specification curve: the points of the first curve in order,
	// and below them the options of each. It must be the only panel of its figure. Marked is
	// the index of the highlighted point, or negative for none.
	Options []Option
	Marked  int

	// LogX and LogY draw lines over powers of ten. Points at or below 0 are omitted, and Lo
	// and Hi do not apply to a logarithmic y axis.
	LogX, LogY bool

	wide vg.Length // set by its figure; 0 means panelWidth
}

// A Curve is the points of one policy, in the order in which they are joined.
type Curve struct {
	Name   string
	Points []Point
}

// A Point is a mean with its interval. Both ends equal the mean if the interval is unknown. An
// undefined point is omitted.
type Point struct {
	X, Mean, Lo, Hi float64

	N   int    // number of replications behind the mean; 0 if not stated
	Row string // [Anchor] of its numbers on the page; may be empty
}

// Interval is the caption sentence about error bars. [Figure.Said] adds the number of
// replications.
const Interval = "Error bars are 95 % intervals of the mean."

// Said returns the caption with the number of replications. It omits the sentence about error
// bars if there are none, as after a single replication.
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

// Letter puts (a), (b), ... before the titles of panels.
func Letter(panels []Panel) {
	for i := range panels {
		if i < 26 {
			panels[i].Title = "(" + string(rune('a'+i)) + ") " + panels[i].Title
		}
	}
}

// CSV returns the numbers that the figure shows: panel, curve, x (or group in a bar panel),
// mean, lo, hi.
func (f Figure) CSV() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{"panel", "curve", "x", "mean", "lo", "hi"}) // writing to a Buffer does not fail
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

// A File is a file to write.
type File struct {
	Name string
	Data []byte
}

// files returns the figure as SVG and PNG, its numbers as CSV, and a Vega-Lite specification.
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
