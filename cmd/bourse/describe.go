package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"bourse/experiments/fitlab"
	"bourse/experiments/report"
	"bourse/workloadgen/describe"

	"github.com/urfave/cli/v2"
)

func describeCommand() *cli.Command {
	return &cli.Command{
		Name:      "describe",
		Usage:     "say what a log is like: lines, moments, memory, load, fits",
		ArgsUsage: "FILE",
		Description: `FILE is a log, or a plan if it ends in .csv. Every line is accounted for: used,
repaired and skipped add up, and each reason is counted. Gaps between arrivals are
of all records, runtimes and sizes of those that ran. With --out, the figures are
written as SVG, PNG and CSV, and all of it on one page, describe.html.

   bourse workload describe KTH-SP2-1996-2.1-cln.swf.gz
   bourse workload describe SDSC-SP2.swf.gz --filter last:3000
   bourse workload describe plan.csv --processors 128 --out described`,
		Flags: append([]cli.Flag{
			filterFlag(),
			&cli.Int64Flag{Name: "processors", DefaultText: "as the header says", Usage: "the machine has `N` processors"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write figures and the page to `DIR`"},
			workersFlag(),
		}, outputFlags()...),
		Action: describeAction,
	}
}

func filterFlag() cli.Flag {
	return &cli.StringFlag{Name: "filter", Usage: "records of the log to take: `FILTERS`, see 'bourse workload filters'"}
}

func workersFlag() cli.Flag {
	return &cli.IntFlag{Name: "workers", Value: runtime.NumCPU(), Usage: "run `N` parts at once; results do not depend on it"}
}

func describeAction(c *cli.Context) error {
	if err := exactly(c, "FILE"); err != nil {
		return err
	}
	t, err := terminal(c, c.App.Writer)
	if err != nil {
		return err
	}
	processors := c.Int64("processors")
	if processors < 0 || processors > 1e9 {
		return usagef("--processors: found %d, want 0 to 1000000000", processors)
	}
	file, err := readLog(c, c.Args().First(), c.String("filter"))
	if err != nil {
		return err
	}
	if processors > 0 {
		file.trace.Header = append([]string{fmt.Sprintf("; MaxProcs: %d", processors)}, file.trace.Header...)
	}
	d := description{file: file, log: describe.Describe(file.trace)}
	if err := file.suffices(d.log, "describe"); err != nil {
		for _, line := range file.told() {
			note(c, "%s", line)
		}
		return err
	}
	if d.fits, err = fitlab.FitLog(c.Context, d.log, fitlab.DefaultCandidates(), fitlab.OptionsFor(d.log), c.Int("workers")); err != nil {
		return err
	}
	var wrote []string
	if out := c.String("out"); out != "" {
		if wrote, err = d.write(c, out); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		return printJSON(c, d.json(wrote))
	}
	for _, table := range d.tables() {
		fmt.Fprintln(c.App.Writer, table.Text(t))
	}
	for _, line := range d.notes() {
		fmt.Fprintln(c.App.Writer, line)
	}
	for _, f := range d.figures(1) {
		fmt.Fprintf(c.App.Writer, "\n%s", f.Text(t))
	}
	for _, name := range wrote {
		note(c, "wrote %s", name)
	}
	return nil
}

// write writes figures and page to dir, and returns the names of the files.
func (d *description) write(c *cli.Context, dir string) ([]string, error) {
	page := report.Page{
		Title:   "Workload " + filepath.Base(d.file.name),
		Command: []string{"bourse", "workload", "describe", d.file.name},
		Tables:  append(d.tables(), fitTables(d.fits)...),
		Figures: d.figures(everyLaw),
		Notes:   d.notes(),
	}
	for _, flag := range []string{"filter", "processors"} {
		if c.IsSet(flag) {
			page.Command = append(page.Command, "--"+flag, fmt.Sprint(c.Value(flag)))
		}
	}
	return writePage(dir, "describe.html", page)
}

// writePage writes a page and its figures to dir, and returns the names of the
// files.
func writePage(dir, name string, page report.Page) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	html, err := page.HTML()
	if err != nil {
		return nil, err
	}
	wrote := []string{filepath.Join(dir, name)}
	if err := os.WriteFile(wrote[0], html, 0o644); err != nil {
		return nil, err
	}
	for _, f := range page.Figures {
		names, err := writeFigure(dir, f)
		if err != nil {
			return nil, err
		}
		wrote = append(wrote, names...)
	}
	return wrote, nil
}
