package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
them as CSV. Alpha is how inelastic users are: 0 values partial work, 1 does not.

   bourse run && bourse curve results/paper`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write curve.svg, curve.png and curve.csv to `DIR` (default: RESULTS/figures)"},
		}, outputFlags()...),
		Action: func(c *cli.Context) error {
			return draw(c, false, func(_ *scenario.Experiment, _ []results.Summary, curve []results.Point) []report.Figure {
				f := report.Figure2(curve)
				f.Name = "curve"
				if len(f.Panels) == 0 {
					return nil
				}
				return []report.Figure{f}
			})
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
paired t values. Each figure comes as SVG and PNG, with its numbers as CSV.

   bourse figures results/paper --out figures`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write the figures to `DIR` (default: RESULTS/figures)"},
		}, outputFlags()...),
		Action: func(c *cli.Context) error { return draw(c, true, experiments.Figures) },
	}
}

// draw writes the figures of the results that c names, and prints them, with the
// tables if they are wanted.
func draw(c *cli.Context, tables bool, figures func(*scenario.Experiment, []results.Summary, []results.Point) []report.Figure) error {
	if err := exactly(c, "RESULTS"); err != nil {
		return err
	}
	t, err := terminal(c, c.App.Writer)
	if err != nil {
		return err
	}
	dir, err := openResults(c.Args().First())
	if err != nil {
		return err
	}
	summary, err := dir.Summary()
	if err != nil {
		return err
	}
	curve, err := dir.Curve()
	if err != nil {
		return err
	}
	out := c.String("out")
	if out == "" {
		out = filepath.Join(dir.Path, "figures")
	}
	e, err := experimentOf(dir)
	if err != nil {
		return err
	}
	drawn := figures(&e, summary, curve)
	if len(drawn) == 0 {
		return usagef("%s: no efficiency was measured there; 'bourse figures' draws what was", dir.Path)
	}
	var metrics []results.Metric
	if tables {
		if metrics, err = dir.Metrics(); err != nil {
			return err
		}
		drawn = append(drawn, experiments.Differences(&e, metrics)...)
	}
	if !c.Bool("json") {
		for _, f := range drawn {
			if _, err := fmt.Fprintln(c.App.Writer, f.Text(t)); err != nil {
				return err
			}
		}
		if tables {
			printTables(c, t, &e, summary, metrics)
		}
	}
	files, err := writeFigures(out, drawn)
	if errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w; --out DIR writes elsewhere", err)
	}
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c, struct {
			Files   []string          `json:"files"`
			Summary []results.Summary `json:"summary"`
			Curve   []results.Point   `json:"curve"`
		}{files, summary, curve})
	}
	for _, name := range files {
		note(c, "wrote %s", name)
	}
	return nil
}

// printTables prints what a run prints.
func printTables(c *cli.Context, t report.Terminal, e *scenario.Experiment, summary []results.Summary, metrics []results.Metric) {
	tests := experiments.TTests(metrics, experiments.PaperOf(e.Name))
	for _, table := range experiments.Tables(e, summary, tests) {
		fmt.Fprintln(c.App.Writer, table.Text(t))
	}
	note(c, "Table 1 judges models against a recorded log: bourse workload table1 FILE")
}

// experimentOf returns the experiment of results as it was run: the files that it
// names are named from where that was.
func experimentOf(dir *results.Dir) (scenario.Experiment, error) {
	e, err := scenario.Parse("manifest.json", []byte(dir.Manifest.Scenario), scenario.Known{})
	if err != nil {
		return e, fmt.Errorf("%s: %w", dir.Path, err)
	}
	return e, nil
}

// openResults reads the manifest of a results directory.
func openResults(path string) (*results.Dir, error) {
	dir, err := results.Open(path)
	if errors.Is(err, results.ErrNotResults) {
		return nil, usageError{err}
	}
	return dir, err
}

// writeFigures writes figures to dir, and returns the names of the files.
func writeFigures(dir string, figures []report.Figure) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	files := []string{}
	for _, f := range figures {
		wrote, err := writeFigure(dir, f)
		if err != nil {
			return nil, err
		}
		files = append(files, wrote...)
	}
	return files, nil
}

// writeFigure writes f in every form, and returns the names of the files.
func writeFigure(dir string, f report.Figure) ([]string, error) {
	files, err := f.Files()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range files {
		name := filepath.Join(dir, file.Name)
		if err := os.WriteFile(name, file.Data, 0o644); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}
