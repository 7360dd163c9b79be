package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"bourse/experiments"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
)

func curveCommand() *cli.Command {
	return &cli.Command{
		Name:      "curve",
		Usage:     "draw efficiency against alpha, a panel a configuration",
		ArgsUsage: "RESULTS",
		Description: `Prints the curve and writes it as SVG and PNG, with the plotted numbers beside
them as CSV, and a Vega-Lite specification for who wants it in another style. Alpha
is how inelastic users are: 0 values partial work, 1 does not.

   bourse run && bourse curve results/paper
   bourse curve results/paper --style one-column --out paper`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write curve.svg, curve.png, curve.csv and curve.vl.json to `DIR` (default: RESULTS/figures)"},
			styleFlag(),
		}, outputFlags[experiments.DrawnValues]()...),
		Action: func(c *cli.Context) error {
			return draw(c, true)
		},
	}
}

func figuresCommand() *cli.Command {
	return &cli.Command{
		Name:      "figures",
		Usage:     "draw the paper's figures and print its tables",
		ArgsUsage: "RESULTS",
		Description: `Figure 1: violations, utilization, rejections, demand correlation. Figure 2:
efficiency against alpha. Figure 3: random admission beside the others. Table 2:
paired t values. Each figure comes as SVG and PNG, with its numbers as CSV and as a
Vega-Lite specification. A style for print is as wide as a column of a journal, 3.5
inches, or two, 7.16, and its SVG has the font in it.

   bourse figures results/paper --out figures
   bourse figures results/paper --style two-column --out paper`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write the figures to `DIR` (default: RESULTS/figures)"},
			styleFlag(),
		}, outputFlags[experiments.DrawnValues]()...),
		Action: func(c *cli.Context) error { return draw(c, false) },
	}
}

func styleFlag() cli.Flag {
	return &cli.StringFlag{Name: "style", Usage: "draw for print, as wide as `STYLE`: " + strings.Join(report.Styles(), " or ")}
}

// draw writes the figures of the results that c names, and prints them, with the
// tables unless the curve alone is wanted.
func draw(c *cli.Context, curveAlone bool) error {
	style := c.String("style")
	if style != "" && !slices.Contains(report.Styles(), style) {
		return usagef("--style: %s", scenario.Unknown(style, report.Styles()))
	}
	dir, err := results.Open(c.Args().First())
	if err != nil {
		return err
	}
	d, err := experiments.Drawn(dir, curveAlone)
	if err != nil {
		return err
	}
	for i := range d.Figures {
		d.Figures[i].Style = report.Style(style)
	}
	if len(d.Figures) == 0 {
		return usagef("%s: no efficiency was measured there; 'bourse figures' draws what was", dir.Path)
	}
	if !c.Bool("json") {
		for _, f := range d.Figures {
			if _, err := fmt.Fprintln(c.App.Writer, f.Text(terminal(c))); err != nil {
				return err
			}
		}
		if err := show(c, d, nil); err != nil {
			return err
		}
		if !curveAlone {
			note(c, "Table 1 judges models against a recorded log: bourse workload table1 FILE")
		}
	}
	files, err := writeDocument(orElse(c.String("out"), dir.Path, "figures"), "", d)
	if errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w; --out DIR writes elsewhere", err)
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
