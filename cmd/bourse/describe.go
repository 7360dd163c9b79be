package main

import (
	"strconv"

	"bourse/experiments/fitlab"

	"github.com/urfave/cli/v2"
)

var describeCommand = command(`describe FILE
describe the jobs and the load in a log

FILE is a plan if its name ends in .csv, and a log otherwise. Each line is used, repaired or
skipped, and the command counts the lines for each reason. Gaps between arrivals are computed from
all records, and runtimes and sizes from the jobs that ran. With --out, the command writes the
figures as SVG, PNG and CSV, and one page with all results, describe.html.

   bourse workload describe KTH-SP2-1996-2.1-cln.swf.gz
   bourse workload describe SDSC-SP2.swf.gz --filter last:3000
   bourse workload describe plan.csv --processors 128 --out described`, describeAction)

type describeOptions struct {
	filterOption             `yaml:",inline"`
	Processors               int64  `shown:"as the header says" doc:"assume that the machine has {N} processors"`
	Out                      string `alias:"o" doc:"write figures and the page to {DIR}"`
	Workers                  int    `default:"cpus" validate:"min=1" doc:"run {N} parts of the computation in parallel; the results do not depend on N"`
	output[fitlab.Described] `yaml:",inline"`
}

func describeAction(c *cli.Context, o *describeOptions) error {
	processors := o.Processors
	if processors < 0 || processors > 1e9 {
		return usagef("--processors: found %d, want 0 to 1000000000", processors)
	}
	file, err := readLog(c, c.Args().First(), o.Filter)
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
	d, err := fitlab.Describe(c.Context, file, log, o.Workers)
	if err != nil {
		return err
	}
	var wrote []string
	if out := o.Out; out != "" {
		page := d.Page()
		page.Command = again(c, "filter", "processors")
		if wrote, err = writeDocument(out, "describe.html", page); err != nil {
			return err
		}
	}
	return show(c, d.Document(), wrote, d.Figures(1)...)
}
