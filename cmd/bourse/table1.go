package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"

	"bourse/experiments"
	"bourse/experiments/fitlab"
	"bourse/experiments/report"
	"bourse/workloadgen"
	"bourse/workloadgen/gof"

	"github.com/urfave/cli/v2"
)

func table1Command() *cli.Command {
	return &cli.Command{
		Name:      "table1",
		Usage:     "judge the paper's models against a log, as its Table 1 does",
		ArgsUsage: "FILE",
		Description: `Two-sample Kolmogorov-Smirnov: 1000 pairs of 100 draws each, the share of pairs not
rejected at 5 %, their mean distance, and the distance of the complete data. The
paper judged SDSC Blue Horizon; its numbers stand beside.

   bourse workload table1 SDSC-BLUE-2000-4.1-cln.swf.gz`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "filter", Usage: "records of the log to take: `FILTERS`"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "derive every use of chance from `SEED`"},
			&cli.IntFlag{Name: "pairs", Value: 1000, Usage: "pairs of samples"},
			&cli.IntFlag{Name: "workers", Value: runtime.NumCPU(), Usage: "run `N` parts at once; results do not depend on it"},
		}, outputFlags()...),
		Action: table1Action,
	}
}

func table1Action(c *cli.Context) error {
	if err := exactly(c, "FILE"); err != nil {
		return err
	}
	t, err := terminal(c, c.App.Writer)
	if err != nil {
		return err
	}
	b := gof.PaperBootstrap()
	if b.Pairs = c.Int("pairs"); b.Pairs < 1 || b.Pairs > 1e6 {
		return usagef("--pairs: found %d, want 1 to 1000000", b.Pairs)
	}
	plan, told, err := readWorkload(c.Args().First(), c.String("filter"))
	if err != nil {
		return err
	}
	for _, line := range told {
		note(c, "%s", line)
	}
	gaps, runs, sizes := quantities(plan)
	if len(gaps) == 0 {
		return usagef("%s: found %d jobs, want at least 2", c.Args().First(), len(plan))
	}
	columns, err := fitlab.PaperColumns(gaps, runs, sizes)
	if err != nil {
		return err
	}
	fits, err := fitlab.Table1(c.Context, columns, b, func(name string) rand.Source {
		return experiments.Stream(c.Uint64("seed"), 0, name)
	}, c.Int("workers"))
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c, fits)
	}
	_, err = fmt.Fprintln(c.App.Writer, report.Table1(besidePaper(fits)).Text(t))
	return err
}

// quantities returns the gaps between arrivals, the runtimes, and the sizes of a
// plan.
func quantities(plan workloadgen.Plan) (gaps, runs, sizes []float64) {
	for i := range plan {
		if i > 0 {
			gaps = append(gaps, plan[i].Arrival-plan[i-1].Arrival)
		}
		runs = append(runs, plan[i].Runtime)
		sizes = append(sizes, float64(plan[i].Nodes))
	}
	return gaps, runs, sizes
}

// besidePaper puts what the paper prints beside fits.
func besidePaper(fits []fitlab.Fit) []report.Fit {
	printed := fitlab.PaperTable1()
	var rows []report.Fit
	for _, f := range fits {
		row := report.Fit{Data: f.Law, Against: "Trace " + f.Column, Success: &f.Success, Complete: &f.D, Sample: &f.MeanD}
		if f.Law == "Trace" {
			row.Data = row.Against
		}
		if i := slices.IndexFunc(printed, func(p fitlab.Fit) bool { return p.Law == f.Law && p.Column == f.Column }); i >= 0 {
			p := &printed[i]
			row.PaperSuccess, row.PaperComplete, row.PaperSample = &p.Success, &p.D, &p.MeanD
		}
		rows = append(rows, row)
	}
	return rows
}
