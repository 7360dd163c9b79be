package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"bourse/experiments/publication"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
)

var plotCommand = command(`plot RESULTS
plot a metric against an axis, with intervals

The command draws results in the terminal and writes figures. Without flags, it plots efficiency
against alpha, with one panel per configuration and one line per policy. Alpha is the inelasticity
of users. At alpha 0, partly completed work has a proportional part of the value; at alpha 1, it has
no value.

A dimension is configuration, policy, metric, alpha, or the name of a sweep axis. A dimension
without a flag becomes panels, and a sweep axis without a flag becomes lines.

   bourse run && bourse plot results/paper
   bourse plot results/paper --x configuration --y violations,rejections
   bourse plot results/guarantee --x guarantee --y efficiency_1 --color policy
   bourse plot results/paper --where policy=be,cac --width single --out curve.pdf`, plotAction)

type plotOptions struct {
	X             string   `doc:"plot {DIMENSION} along x; configurations and policies become groups of bars (default: alpha for efficiency, otherwise the first axis)"`
	Y             string   `doc:"plot {METRICS}, separated by commas (default: efficiency)"`
	Color         string   `doc:"draw one line for each value of {DIMENSIONS} (default: policy), or set the terminal's colours to auto, always or never"`
	Facet         string   `doc:"draw one panel for each value of {DIMENSIONS} (default: configuration)"`
	Where         []string `doc:"plot only {DIMENSION=VALUES}, such as policy=be,cac"`
	CSV           bool     `doc:"print the points as CSV"`
	figureOptions `yaml:",inline"`
}

func plotAction(c *cli.Context, o *plotOptions) error {
	ask := publication.Ask{X: o.X, Y: list(c, "y"), Color: list(c, "color"), Facet: list(c, "facet"), Where: make(map[string][]string)}
	if len(ask.Color) == 1 && slices.Contains([]string{"auto", "always", "never"}, ask.Color[0]) {
		ask.Color = nil
	}
	for _, w := range o.Where {
		dimension, values, ok := strings.Cut(w, "=")
		if !ok {
			return usagef("--where: found %q, want DIMENSION=VALUES, such as policy=be,cac", w)
		}
		ask.Where[dimension] = append(ask.Where[dimension], strings.Split(values, ",")...)
	}
	return draw(c, func(dir *results.Dir) (report.Document, error) { return publication.Plotted(dir, ask) })
}

// list returns the values of a flag, separated by commas.
func list(c *cli.Context, flag string) []string {
	return strings.FieldsFunc(c.String(flag), func(r rune) bool { return r == ',' })
}

// curveCommand is the plot command without its own flags.
var curveCommand = command(`curve RESULTS
draw efficiency against alpha, like plot

   bourse run && bourse curve results/paper`, func(c *cli.Context, o *coloredOptions) error {
	return plotAction(c, &plotOptions{figureOptions: o.figureOptions})
})

var figuresCommand = command(`figures RESULTS
draw the paper's figures and print its tables

Figure 1 shows violations, utilization, rejections and demand correlation. Figure 2 shows efficiency
against alpha. Figure 3 compares random admission with the other policies. Table 2: paired t values.

   bourse figures results/paper --out figures
   bourse figures results/paper --width double --format pdf --out paper`, func(c *cli.Context, _ *coloredOptions) error { return draw(c, publication.Drawn) })

// figureOptions are the flags of commands that draw figures of results.
type figureOptions struct {
	Out                                 string `alias:"o" doc:"write the figures to {PATH}, a directory or a file such as curve.pdf (default: RESULTS/figures)"`
	Format                              string `doc:"write {FORMATS}, separated by commas: svg, png, pdf, csv or vl.json (default: all but pdf)"`
	Width                               string `alias:"style" doc:"draw at {WIDTH}: single (3.5 in), double (7.16 in) or a number of mm"`
	jsonOption[publication.DrawnValues] `yaml:",inline"`
	quietOption                         `yaml:",inline"`
}

type coloredOptions struct {
	figureOptions `yaml:",inline"`
	Color         string `validate:"oneof=auto always never" default:"auto" doc:"use colour {WHEN}: auto, always or never"`
}

// width returns the width of figures in mm. 0 means that figures are for a screen.
func width(c *cli.Context) (mm float64, err error) {
	const inch = 25.4
	switch w := c.String("width"); w {
	case "":
		return 0, nil
	case "single", "one-column":
		return 3.5 * inch, nil
	case "double", "two-column":
		return 7.16 * inch, nil
	default:
		if mm, err = strconv.ParseFloat(strings.TrimSuffix(w, "mm"), 64); err != nil || !(mm >= 40 && mm <= 400) {
			return 0, usagef("--width: found %q, want single, double or a number of mm from 40 to 400", w)
		}
		return mm, nil
	}
}

// draw writes and prints the figures of the named results, and their tables if there are
// any.
func draw(c *cli.Context, of func(*results.Dir) (report.Document, error)) error {
	mm, err := width(c)
	if err != nil {
		return err
	}
	formats := list(c, "format")
	for _, f := range formats {
		if !slices.Contains(report.Formats(), f) {
			return usagef("--format: %s", scenario.Unknown(f, report.Formats()))
		}
	}
	dir, err := results.Open(c.Args().First())
	if err != nil {
		return err
	}
	d, err := of(dir)
	if err != nil {
		return err
	}
	out := orElse(c.String("out"), dir.Path, "figures")
	if ext := strings.TrimPrefix(filepath.Ext(out), "."); slices.Contains(report.Formats(), ext) && len(d.Figures) == 1 {
		if len(formats) > 0 && !slices.Equal(formats, []string{ext}) {
			return usagef("--format: found %s, want %s, as in --out", strings.Join(formats, ","), ext)
		}
		formats, d.Figures[0].Name = []string{ext}, strings.TrimSuffix(filepath.Base(out), "."+ext)
		out = filepath.Dir(out)
	}
	d.Formats = formats
	for i := range d.Figures {
		d.Figures[i].Width = mm
		for _, omitted := range d.Figures[i].Omits {
			note(c, "%s leaves out %s", d.Figures[i].Name, omitted)
		}
	}
	if c.Bool("csv") {
		for _, f := range d.Figures {
			if _, err := c.App.Writer.Write(f.CSV()); err != nil {
				return err
			}
		}
	} else if !c.Bool("json") {
		for _, f := range d.Figures {
			if _, err := c.App.Writer.Write([]byte(f.Text(terminal(c)) + "\n")); err != nil {
				return err
			}
		}
		if err := show(c, d, nil); err != nil {
			return err
		}
		if len(d.Tables) > 0 {
			note(c, "Table 1 compares models with a recorded log; print it with: bourse paper table1 FILE")
		}
	}
	files, err := writeDocument(out, "", d)
	if errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w; write elsewhere with --out DIR", err)
	}
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return show(c, d, files)
	}
	noteWrote(c, files)
	return nil
}
