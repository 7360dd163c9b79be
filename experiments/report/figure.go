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

// A Figure is a grid of panels under one legend.
type Figure struct {
	Name    string // name of its files, without extension
	Title   string
	Caption string   // a sentence below; may be empty
	Omits   []string // omissions with reasons, as noun phrases
	Across  int      // panels per row; 0 means 2
	Panels  []Panel

	Width   float64           // in mm, for print; 0 means the size for a screen
	Letters bool              // puts (a), (b), ... before the titles of panels
	Words   map[string]string // legend text in addition to a curve's name, by name or by the part of it before a comma

	// Order assigns colours to curves by name, so that a policy has the same colour in every
	// figure. Other curves follow in order of appearance.
	Order []string

	bare bool // drawn without legend
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

	wide   vg.Length // set by its figure; 0 means panelWidth
	letter string    // set by its figure, before the title as drawn
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
	if len(f.Omits) > 0 {
		said = strings.TrimSpace(said + " Left out: " + strings.Join(f.Omits, "; ") + ".")
	}
	switch {
	case most == 0:
		return said
	case most == 1:
		return strings.TrimSpace(said + " One replication (n = 1).")
	case least < most:
		return strings.TrimSpace(fmt.Sprintf("%s Means over %d to %d replications (n), if they are defined.", said, least, most))
	}
	return strings.TrimSpace(fmt.Sprintf("%s Means over n = %d replications.", said, most))
}

// letter returns (a), (b), ... for panel i if f has letters.
func (f Figure) letter(i int) string {
	if !f.Letters || i >= 26 {
		return ""
	}
	return "(" + string(rune('a'+i)) + ") "
}

// drawn returns panel i with its letter, unless it is the only one.
func (f Figure) drawn(i int) Panel {
	p := f.Panels[i]
	if p.letter == "" && len(f.Panels) > 1 {
		p.letter = f.letter(i)
	}
	return p
}

// CSV returns the numbers that the figure shows: panel, curve, x (or group in a bar panel),
// mean, lo, hi.
func (f Figure) CSV() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{"panel", "curve", "x", "mean", "lo", "hi"}) // writing to a Buffer does not fail
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

// A Drawn is a point of a figure for programs.
type Drawn struct {
	Figure string `json:"figure" doc:"name of the figure's files"`
	Panel  string `json:"panel" doc:"title of the point's panel"`
	Line   string `json:"line" doc:"name of the point's line or bars"`
	X      Maybe  `json:"x" doc:"null for a group of bars"`
	Group  string `json:"group,omitempty" doc:"of bars"`
	Mean   Maybe  `json:"mean"`
	Lo     Maybe  `json:"lo95" doc:"lower end of the interval; the mean if there is none"`
	Hi     Maybe  `json:"hi95" doc:"upper end of the interval; the mean if there is none"`
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

// Formats returns the formats of figures.
func Formats() []string { return []string{"svg", "png", "pdf", "csv", "vl.json"} }

// Files returns the figure in the given formats. None means all but PDF.
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
