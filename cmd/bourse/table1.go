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

var table1Command = command(`table1 FILE
compare models with a log, as in the paper's Table 1

The command compares pairs of samples, each with 100 draws, with the two-sample Kolmogorov-Smirnov
test. It prints the fraction of pairs that the test does not reject at 5 %, and their mean distance.
It also prints the distance between the complete data and the model. The paper used 1000 pairs from
SDSC Blue Horizon; its numbers are shown next to the results. With ten times as many pairs, the
command takes a second, and the standard error is a third of the paper's. With --models, the command
judges the distributions in model files (written by 'workload fit') instead of the distributions in
the paper.

   bourse paper table1 SDSC-BLUE-2000-4.1-cln.swf.gz
   bourse paper table1 KTH.swf.gz --models kth.yaml,exponential.yaml`, table1Action)

type table1Options struct {
	filterOption          `yaml:",inline"`
	Models                string `doc:"judge the distributions in the model {FILES}, separated by commas"`
	seedOption            `yaml:",inline"`
	Pairs                 int `default:"10000" doc:"use {N} pairs of samples; the paper used 1000"`
	Workers               int `default:"cpus" validate:"min=1" doc:"run {N} parts of the computation in parallel; the results do not depend on N"`
	output[fitlab.Judged] `yaml:",inline"`
}

func table1Action(c *cli.Context, o *table1Options) error {
	b := gof.PaperBootstrap()
	if b.Pairs = o.Pairs; b.Pairs < 1 || b.Pairs > 1e6 {
		return usagef("--pairs: found %d, want 1 to 1000000", b.Pairs)
	}
	file, log, err := measureLog(c, "judge by")
	if err != nil {
		return err
	}
	var files []string
	if o.Models != "" {
		files = strings.Split(o.Models, ",")
	}
	d, err := await(c.Context, func() (report.Document, error) {
		return fitlab.Judge(c.Context, file, log, files, b, func(name string) rand.Source {
			return scenario.Stream(o.Seed, 0, name)
		}, o.Workers)
	})
	if err != nil {
		return err
	}
	return show(c, d, nil)
}
