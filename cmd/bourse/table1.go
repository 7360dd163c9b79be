package main

import (
	"math/rand/v2"
	"strings"

	"bourse/experiments/fitlab"
	"bourse/experiments/report"
	"bourse/experiments/scenario"
	"bourse/workloadgen/gof"

	"github.com/urfave/cli/v2"
)

func table1Command() *cli.Command {
	return &cli.Command{
		Name:      "table1",
		Usage:     "judge models against a log, as the market paper's Table 1 does",
		ArgsUsage: "FILE",
		Description: `Two-sample Kolmogorov-Smirnov: the share of pairs of 100 draws each that are not
rejected at 5 %, their mean distance, and the distance of the complete data. The
paper took 1000 pairs from SDSC Blue Horizon; its numbers stand beside. Ten times
as many cost a second, and leave a third of the error. --models judges the laws of
model files instead of the paper's, as 'workload fit' writes them.

   bourse workload table1 SDSC-BLUE-2000-4.1-cln.swf.gz
   bourse workload table1 KTH.swf.gz --models kth.yaml,exponential.yaml`,
		Flags: append([]cli.Flag{
			filterFlag(),
			&cli.StringFlag{Name: "models", Usage: "judge the laws of model `FILES` of model 'independent', joined by commas"},
			seedFlag(),
			&cli.IntFlag{Name: "pairs", Value: 10000, Usage: "take `N` pairs of samples; the paper took 1000"},
			workersFlag("parts"),
		}, outputFlags[fitlab.Judged]()...),
		Action: table1Action,
	}
}

func table1Action(c *cli.Context) error {
	b := gof.PaperBootstrap()
	if b.Pairs = c.Int("pairs"); b.Pairs < 1 || b.Pairs > 1e6 {
		return usagef("--pairs: found %d, want 1 to 1000000", b.Pairs)
	}
	file, log, err := measureLog(c, "judge by")
	if err != nil {
		return err
	}
	var files []string
	if c.String("models") != "" {
		files = strings.Split(c.String("models"), ",")
	}
	d, err := await(c.Context, func() (report.Document, error) {
		return fitlab.Judge(c.Context, file, log, files, b, func(name string) rand.Source {
			return scenario.Stream(c.Uint64("seed"), 0, name)
		}, c.Int("workers"))
	})
	if err != nil {
		return err
	}
	return show(c, d, nil)
}
