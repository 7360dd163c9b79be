package main

import (
	"slices"
	"strings"

	"bourse/experiments"
	"bourse/experiments/calibrate"
	"bourse/experiments/papers"
	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
)

func calibrateCommand() *cli.Command {
	return &cli.Command{
		Name:      "calibrate",
		Usage:     "hold what admission policies promise with probability g against what they keep",
		ArgsUsage: "[FILE]",
		Description: `Runs a scenario at every value of a guarantee and prints how often what it promises was
kept, for both things that it can mean: that the price stays at most at its percentile, and
that the contract is fulfilled; with 95 % intervals, Brier and pinball scores, what it
costs, and a reliability diagram. FILE and flags are as of 'bourse run'; - is standard input.

--over names fields of policies and the values they take, from..to/step or between commas;
several fields before the = take the same values together.

   bourse calibrate --configuration pareto-high --over admission.sac.guarantee=0.5..0.95/0.05
   bourse calibrate mine.yaml --over admission.sac.guarantee,admission.cac.guarantee=0.6,0.9 \
      --forecaster chebyshev --forecaster conformal --out calibrated`,
		Flags: append([]cli.Flag{
			&cli.StringSliceFlag{Name: "over", Usage: "let fields take values one after another: `PATH=VALUES`"},
			&cli.StringSliceFlag{Name: "forecaster", Usage: "with the forecaster `NAME`: " + strings.Join(experiments.NamesOf("forecaster"), ", ") + ", or all (default: the scenario's)"},
			&cli.StringSliceFlag{Name: "configuration", Usage: "run the configuration `NAME` (default: all)"},
			&cli.StringFlag{Name: "less", Usage: "hold what promises cost against `POLICY`, replication by replication"},
			&cli.StringFlag{Name: "preset", Usage: "run the preset `NAME` in place of a file: " + strings.Join(papers.Names(), ", ")},
			&cli.StringFlag{Name: "replications", Aliases: []string{"n"}, Usage: "repeat every configuration `N` times, each with its own workload"},
			&cli.StringFlag{Name: "seed", Usage: "derive every use of chance from `SEED`"},
			&cli.StringFlag{Name: "trace", Usage: "run the recorded log `FILE` (SWF, plain or gzip) in the configurations that have a filter for one"},
			setFlag(), workersFlag("replications"),
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write the diagram, its numbers and the page to `DIR`"},
			noProgressFlag(),
		}, outputFlags[calibrate.Report]()...),
		Action: calibrateAction,
	}
}

func calibrateAction(c *cli.Context) error {
	if err := checkWorkers(c); err != nil {
		return err
	}
	known, err := knownTo(c)
	if err != nil {
		return err
	}
	if known.Over, err = overAxes(c); err != nil {
		return err
	}
	forecasters, err := namedForecasters(c, nil)
	if err != nil {
		return err
	}
	if forecasters != nil {
		axis := scenario.Axis{Path: "market.forecaster"}
		for _, name := range forecasters {
			axis.Values = append(axis.Values, scenario.Value(name))
		}
		known.Over = append(known.Over, axis)
	}
	sets, err := overrides(c)
	if err != nil {
		return err
	}
	var ch choice
	if err := ch.load(c, c.String("preset"), known, sets); err != nil {
		return err
	}
	r, err := experiments.Calibrate(c.Context, &ch.experiment,
		experiments.Calibration{Configurations: c.StringSlice("configuration"), Less: c.String("less")},
		experiments.Options{Workers: c.Int("workers"), Progress: progress(c, ch.experiment.Name)})
	if err != nil {
		return err
	}
	r.Notes = append(stands(&ch.experiment), r.Notes...)
	d := r.Document()
	d.Command = again(c, "over", "forecaster", "configuration", "less", "preset", "replications", "seed", "trace", "set")
	var wrote []string
	if out := c.String("out"); out != "" {
		if wrote, err = writeDocument(out, "calibrate.html", d); err != nil {
			return err
		}
	}
	return show(c, d, wrote)
}

// overAxes returns what the flags --over ask for.
func overAxes(c *cli.Context) (all []scenario.Axis, err error) {
	for _, text := range c.StringSlice("over") {
		axis, err := scenario.Over(text)
		if err != nil {
			return nil, usagef("--over: %w", err)
		}
		all = append(all, axis)
	}
	return all, nil
}

// namedForecasters returns the forecasters that flags name, or else these.
func namedForecasters(c *cli.Context, others []string) ([]string, error) {
	names, known := c.StringSlice("forecaster"), experiments.NamesOf("forecaster")
	if len(names) == 0 {
		return others, nil
	}
	if slices.Equal(names, []string{"all"}) {
		return known, nil
	}
	for i, name := range names {
		if !slices.Contains(known, name) {
			return nil, usagef("--forecaster: %s", scenario.Unknown(name, known))
		}
		if slices.Contains(names[:i], name) {
			return nil, usagef("--forecaster: found %s twice", name)
		}
	}
	return names, nil
}
