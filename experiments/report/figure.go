package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"

	"bourse/experiments/results"

	"gonum.org/v1/plot/vg"
)

// A Figure is a grid of panels with one legend.
type Figure struct {
	Name    string // name of the files, without an extension
	Title   string
	Caption string   // sentence below the figure; may be empty
	Omits   []string // data that the figure omits, with reasons, as noun phrases
	Across  int      // panels per row; 0 means 2
	Panels  []Panel

	Width   float64           // width in mm for print; 0 means the size for a screen
	Letters bool              // put (a), (b), ... before the titles of panels
	Words   map[string]string // additional legend text, by the name of a curve or by the part of the name before a comma

	// Order assigns colours to curves by name, so that a policy has the same colour in
	// every figure. Other curves follow in the order of their first appearance.
	Order []string

	bare bool // whether the figure is drawn without its legend
}

// A Panel is one pair of axes. It has lines over x or, if Groups is set, bars. In a bar
// panel, the X of a point is the index of its group.
type Panel struct {
	Title, X, Y string
	Groups      []string
	Curves      []Curve

	// Lo and Hi are the ends of the y axis. The axis is longer if a mean lies beyond these
	// ends. If Lo and Hi are both zero, the axis includes the data and zero.
	Lo, Hi float64

	// Heat draws a coloured cell for each group and curve, with groups along x and curves
	// along y. Lo and Hi are then the ends of the colour scale.
	Heat bool

	// Forest draws differences. Forest draws one row per group with a point and an interval,
	// and a line at 0. If Lo and Hi are not zero, they are the ends of the range of
	// differences that do not matter.
	Forest bool

	// Options makes the panel a specification curve. It shows the points of the first curve
	// in order, and the options of each point below. The panel must be the only one in its
	// figure. Marked is the index of the highlighted point, or negative if there is none.
	Options []Option
	Marked  int

	// LogX and LogY draw lines on logarithmic axes. Points at or below 0 are omitted. Lo
	// and Hi do not apply to a logarithmic y axis.
	LogX, LogY bool

	wide   vg.Length // width set by the figure; 0 means panelWidth
	letter string    // letter before the title, set by the figure
}

// A Curve contains the points of one policy, in the order in which lines join them.
type Curve struct {
	Name   string
	Points []Point
}

// A Point is a mean with its interval. If the interval is unknown, both ends equal the
// mean. Undefined points are omitted.
type Point struct {
	X, Mean, Lo, Hi float64

	N   int    // number of replications on which the mean is based; 0 if not stated
	Row string // [Anchor] of the point's numbers on the page; may be empty
}

// Interval is the caption's sentence about error bars. [Figure.Said] adds the number of
// replications to it.
const Interval = "Error bars are 95 % intervals of the mean."

// Said returns the caption with the number of replications. If there are no error bars, as
// after a single replication, Said omits the sentence about them.
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
	if len(f.Omits) > 0 {
		said = strings.TrimSpace(said + " Left out: " + strings.Join(f.Omits, "; ") + ".")
	}
	switch {
	case most == 0:
		return said
	case most == 1:
		return strings.TrimSpace(said + " One replication (n = 1).")
	case least < most:
		return strings.TrimSpace(fmt.Sprintf("%s Means are computed over %d to %d replications (n), in which they are defined.", said, least, most))
	}
	return strings.TrimSpace(fmt.Sprintf("%s Means over n = %d replications.", said, most))
}

// letter returns (a), (b), ... for panel i if f uses letters.
func (f Figure) letter(i int) string {
	if !f.Letters || i >= 26 {
		return ""
	}
	return "(" + string(rune('a'+i)) + ") "
}

// drawn returns panel i with its letter. A single panel has no letter.
func (f Figure) drawn(i int) Panel {
	p := f.Panels[i]
	if p.letter == "" && len(f.Panels) > 1 {
		p.letter = f.letter(i)
	}
	return p
}

// CSV returns the numbers in the figure with the columns panel, curve, x (or group in a bar
// panel), mean, lo and hi.
func (f Figure) CSV() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{"panel", "curve", "x", "mean", "lo", "hi"}) // a Buffer returns no errors
	for i := range f.Panels {
		for _, d := range f.points(i) {
			x := shortest(float64(d.X))
			if f.Panels[i].Groups != nil {
				x = cell(d.Group)
			}
			w.Write([]string{cell(f.letter(i) + d.Panel), cell(d.Line), x, shortest(float64(d.Mean)), shortest(float64(d.Lo)), shortest(float64(d.Hi))})
		}
	}
	w.Flush()
	return b.Bytes()
}

// A Drawn is a point of a figure, in a form for programs.
type Drawn struct {
	Figure string `json:"figure" doc:"name of the figure's files, without extension"`
	Panel  string `json:"panel" doc:"title of the panel that contains the point"`
	Line   string `json:"line" doc:"name of the line or bars to which the point belongs"`
	X      Maybe  `json:"x" doc:"position along x; null for a group of bars"`
	Group  string `json:"group,omitempty" doc:"group of bars"`
	Mean   Maybe  `json:"mean"`
	Lo     Maybe  `json:"lo95" doc:"lower end of the interval; the mean if there is no interval"`
	Hi     Maybe  `json:"hi95" doc:"upper end of the interval; the mean if there is no interval"`
	N      int    `json:"n" doc:"number of replications; 0 if unknown"`
}

// Drawn returns the points of f.
func (f Figure) Drawn() (all []Drawn) {
	for i := range f.Panels {
		all = append(all, f.points(i)...)
	}
	return all
}

// points returns the points of panel i.
func (f Figure) points(i int) (all []Drawn) {
	p := &f.Panels[i]
	for _, c := range p.Curves {
		for _, pt := range c.Points {
			d := Drawn{f.Name, p.Title, c.Name, Maybe(pt.X), "", Maybe(pt.Mean), Maybe(pt.Lo), Maybe(pt.Hi), pt.N}
			if p.Groups != nil {
				d.X, d.Group = Maybe(math.NaN()), p.Groups[int(pt.X)]
			}
			all = append(all, d)
		}
	}
	return all
}

func cell(s string) string { return results.SafeText(clean(s)) }

func shortest(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// A File is a file to write.
type File struct {
	Name string
	Data []byte
}

// Formats returns the names of all formats of figures.
func Formats() []string { return []string{"svg", "png", "pdf", "csv", "vl.json"} }

// Files returns the files of the figure in the given formats. If no formats are given, it
// returns all formats except PDF.
func (f Figure) Files(formats ...string) (files []File, err error) {
	if len(formats) == 0 {
		formats = []string{"svg", "png", "csv", "vl.json"}
	}
	for _, format := range formats {
		file := File{Name: f.Name + "." + format}
		switch format {
		case "svg":
			file.Data, err = f.SVG()
		case "png":
			file.Data, err = f.png()
		case "pdf":
			file.Data, err = f.pdf()
		case "csv":
			file.Data = f.CSV()
		case "vl.json":
			file.Data = f.vega()
		}
		if err != nil {
			return nil, fmt.Errorf("draw %s: %w", file.Name, err)
		}
		files = append(files, file)
	}
	return files, nil
}
