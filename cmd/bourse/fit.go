package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"bourse/experiments/fitlab"
	"bourse/workloadgen/fit"

	"github.com/urfave/cli/v2"
)

var fitCommand = command(`fit FILE
fit distributions to a log, and write a model

The command prints each distribution with its parameters and their standard errors. It also prints
the log-likelihood, the AIC and the Kolmogorov-Smirnov distance. The closest distribution is the
first one and is marked. With --out, the command writes the closest distribution of each quantity to
a model file, which 'workload generate' accepts. To use it in a scenario, write 'workload: {model:
{name: file, file: MODEL.yaml}}'. If a policy needs budgets, add them with 'annotate'. Sizes are
fitted as powers of two.

Laws: `+strings.Join(fit.Names()[:8], ", ")+`,
`+strings.Join(fit.Names()[8:], ", ")+`.

   bourse workload fit KTH-SP2-1996-2.1-cln.swf.gz
   bourse workload fit SDSC-BLUE.swf.gz --iat hypweib --out blue.yaml
   bourse workload generate blue.yaml -n 10000 --swf like-blue.swf`, fitAction)

type fitOptions struct {
	filterOption          `yaml:",inline"`
	IAT                   []string `commas:"law" shown:"those of the papers and common alternatives" doc:"fit the distributions {LAWS} to the gaps between arrivals"`
	Runtime               []string `commas:"law" shown:"those of the papers and common alternatives" doc:"fit the distributions {LAWS} to the runtimes"`
	Nodes                 []string `commas:"law" shown:"those of the papers and common alternatives" doc:"fit the distributions {LAWS} to the sizes"`
	Out                   string   `alias:"o" doc:"write the model to {FILE}"`
	Hurst                 bool     `doc:"include the log's Hurst exponent (R/S) in the model of the gaps"`
	Workers               int      `default:"cpus" validate:"min=1" doc:"run {N} parts of the computation in parallel; the results do not depend on N"`
	output[fitlab.Fitted] `yaml:",inline"`
}

func fitAction(c *cli.Context, o *fitOptions) error {
	candidates := fitlab.Candidates{o.IAT, o.Runtime, o.Nodes}.OrDefault()
	file, log, err := measureLog(c, "fit")
	if err != nil {
		return err
	}
	fits, err := fitlab.FitLog(c.Context, log, candidates, fitlab.OptionsFor(log), o.Workers)
	if err != nil {
		return err
	}
	if out := o.Out; out != "" {
		model, err := fits.File(log, filepath.Base(file.Name))
		if err != nil {
			return err
		}
		if o.Hurst {
			if err := fitlab.Remember(&model, log); err != nil {
				return fmt.Errorf("--hurst: %w", err)
			}
		}
		if err := writeFile(c, out, model.Write); err != nil {
			return err
		}
		note(c, "wrote %s", out)
	}
	return show(c, fits.Document(file.Name), nil)
}
