package main

import (
	"strconv"

	"bourse/experiments/fitlab"

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
			workersFlag("parts"),
		}, outputFlags[fitlab.Described]()...),
		Action: describeAction,
	}
}

func describeAction(c *cli.Context) error {
	processors := c.Int64("processors")
	if processors < 0 || processors > 1e9 {
		return usagef("--processors: found %d, want 0 to 1000000000", processors)
	}
	file, err := readLog(c, c.Args().First(), c.String("filter"))
	if err != nil {
		return err
	}
	if processors > 0 {
		file.Trace.Header = file.Trace.Header.With("MaxProcs", strconv.FormatInt(processors, 10))
	}
	log, err := file.Measure("describe")
	if err != nil {
		tell(c, file)
		return err
	}
	d, err := fitlab.Describe(c.Context, file, log, c.Int("workers"))
	if err != nil {
		return err
	}
	var wrote []string
	if out := c.String("out"); out != "" {
		page := d.Page()
		page.Command = again(c, "filter", "processors")
		if wrote, err = writeDocument(out, "describe.html", page); err != nil {
			return err
		}
	}
	return show(c, d.Document(), wrote, d.Figures(1)...)
}
