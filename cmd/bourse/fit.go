package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"bourse/experiments/fitlab"
	"bourse/workloadgen/fit"

	"github.com/urfave/cli/v2"
)

func fitCommand() *cli.Command {
	c := fitlab.DefaultCandidates()
	laws := func(name, of string, by []string) cli.Flag {
		return &cli.StringFlag{Name: name, Value: strings.Join(by, ","), Usage: "fit these `LAWS` to the " + of}
	}
	return &cli.Command{
		Name:      "fit",
		Usage:     "fit laws to a log, and write the nearest as a model",
		ArgsUsage: "FILE",
		Description: `Prints each law with its parameters and their standard errors, log-likelihood, AIC
and Kolmogorov-Smirnov distance, the nearest first and marked. With --out the nearest
law of each quantity goes into a model file, which 'workload generate' takes, and a
scenario as 'workload: {model: {name: file, file: MODEL.yaml}}', with budgets from
'annotate' where a policy wants them. Sizes are fitted in powers of two.

Laws: ` + strings.Join(fit.Names()[:8], ", ") + `,
` + strings.Join(fit.Names()[8:], ", ") + `.

   bourse workload fit KTH-SP2-1996-2.1-cln.swf.gz
   bourse workload fit SDSC-BLUE.swf.gz --iat hypweib --out blue.yaml
   bourse workload generate blue.yaml -n 10000 --swf like-blue.swf`,
		Flags: append([]cli.Flag{
			filterFlag(),
			laws("iat", "gaps between arrivals", c.IAT),
			laws("runtime", "runtimes", c.Run),
			laws("nodes", "sizes", c.Procs),
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write the model to `FILE`"},
			&cli.BoolFlag{Name: "hurst", Usage: "give the model's gaps the memory of the log's: its Hurst exponent by R/S"},
			workersFlag("parts"),
		}, outputFlags[fitlab.Fitted]()...),
		Action: fitAction,
	}
}

func fitAction(c *cli.Context) error {
	var candidates fitlab.Candidates
	var err error
	for _, q := range []struct {
		flag string
		laws *[]string
	}{{"iat", &candidates.IAT}, {"runtime", &candidates.Run}, {"nodes", &candidates.Procs}} {
		if *q.laws, err = lawNames(q.flag, c.String(q.flag)); err != nil {
			return err
		}
	}
	file, log, err := measureLog(c, "fit")
	if err != nil {
		return err
	}
	fits, err := fitlab.FitLog(c.Context, log, candidates, fitlab.OptionsFor(log), c.Int("workers"))
	if err != nil {
		return err
	}
	if out := c.String("out"); out != "" {
		model, err := fits.File(fitlab.Choice{}, log, filepath.Base(file.Name))
		if err != nil {
			return err
		}
		if c.Bool("hurst") {
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

// lawNames reads the laws of a flag.
func lawNames(flag, text string) ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(fit.Names(), name) {
			return nil, usagef("--%s: found %q, want laws of %s, joined by commas", flag, name, strings.Join(fit.Names(), ", "))
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}
