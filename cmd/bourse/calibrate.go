package main

import (
	"slices"

	"bourse/experiments"
	"bourse/experiments/scenario"
	"bourse/experiments/study"

	"github.com/urfave/cli/v2"
)

var calibrateCommand = command(`calibrate [FILE]
compare promised and realized success rates

The command runs a scenario at every value of a guarantee and prints the fraction of promises that
were kept. A promise means either that the price stays at or below its percentile, or that the
contract is fulfilled. The output includes 95 % intervals, Brier and pinball scores, the cost, and a
reliability diagram. FILE and flags have the same meaning as in 'bourse run'; - means standard
input.

--over names a field of a policy and its values, as from..to/step or as a list separated by
commas. If several fields precede the =, they all have the same value in each run.

   bourse study calibrate --configuration pareto-high --over admission.sac.guarantee=0.5..0.95/0.05
   bourse study calibrate mine.yaml --over admission.sac.guarantee,admission.cac.guarantee=0.6,0.9 \
      --forecaster chebyshev --forecaster conformal --out calibrated`, calibrateAction)

type calibrateOptions struct {
	Over                     []string `doc:"vary fields: {PATH=VALUES}"`
	Forecaster               []string `shown:"the scenario's" of:"forecaster" doc:"with the forecaster {NAME}, or all"`
	Configuration            []string `doc:"run the configuration {NAME} (default: all)"`
	Less                     string   `doc:"compare the cost of promises with the cost under {POLICY}, replication by replication"`
	Preset                   string   `of:"preset" doc:"run the preset {NAME} instead of a file"`
	Replications             string   `alias:"n" doc:"repeat every configuration {N} times, each with its own workload"`
	Seed                     string   `doc:"derive all random numbers from {SEED}"`
	Trace                    string   `doc:"use the log {FILE} (SWF, plain or gzip) instead of the model"`
	Set                      []string `doc:"override a field: {PATH=VALUE}"`
	Workers                  int      `default:"cpus" validate:"min=1" doc:"run {N} replications in parallel; the results do not depend on N"`
	Out                      string   `alias:"o" doc:"write the diagram, its numbers and the page to {DIR}"`
	noProgressOption         `yaml:",inline"`
	output[study.Calibrated] `yaml:",inline"`
}

func calibrateAction(c *cli.Context, o *calibrateOptions) error {
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
	var ch choice
	if err := ch.load(c, o.Preset, known); err != nil {
		return err
	}
	r, err := study.Calibrate(c.Context, &ch.experiment,
		study.Calibration{Configurations: o.Configuration, Less: o.Less},
		experiments.Options{Workers: o.Workers, Progress: progress(c, ch.experiment.Name)})
	if err != nil {
		return err
	}
	r.Notes = append(stands(&ch.experiment), r.Notes...)
	d := r.Document()
	d.Command = again(c, "over", "forecaster", "configuration", "less", "preset", "replications", "seed", "trace", "set")
	return showOut(c, o.Out, "calibrate.html", d)
}

// overAxes returns the axes given by the --over flags.
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

// namedForecasters returns the forecasters named by flags, or the given default.
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
