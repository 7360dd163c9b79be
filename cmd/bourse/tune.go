package main

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"bourse/bank/whole"
	"bourse/experiments"
	"bourse/experiments/scenario"
	"bourse/experiments/study"

	"github.com/urfave/cli/v2"
)

var tuneCommand = command(`tune [SCENARIO]
find the setting with the best metric

The command compares settings of a scenario on the same jobs, hosts and random numbers. As soon as a
setting is significantly worse, the command drops it and spends the remaining replications on the
others. The settings are the values of --over or, if the flag is repeated, all combinations of the
values. The scenario's own sweep adds further settings. The settings run under the policies that
have the field as an option, or under all policies if no policy has such an option. The command
prints the best setting, and the settings that are not significantly worse. It also prints the
possible loss from a wrong choice, and the number of replications needed to separate more settings.
If you interrupt the search, the command prints the results so far. With --out, repeat the command
to continue.

   bourse study tune --configuration pareto-high --maximize efficiency_1 --over admission.cac.guarantee=0.5..0.99/0.01
   bourse study tune mine.yaml --maximize revenue --over admission.partition.reserved=0..1/0.1 --over market.payment=spot,bid
   bourse study tune mine.yaml --minimize rejections --over fleet.hosts=10..60/1 --smooth --within 0.01 --out tuned`, tuneAction)

type tuneOptions struct {
	Maximize            string   `doc:"find the setting with the largest mean of {METRIC}, from 'bourse scenario options metric'"`
	Minimize            string   `doc:"find the smallest mean of {METRIC}"`
	Over                []string `doc:"vary a field: {PATH=VALUES}, with numbers, words and ranges FROM..TO/STEP"`
	Configuration       string   `doc:"use configuration {NAME} (default: the only one)"`
	Policies            string   `doc:"use only the policies {LABELS}, separated by commas (default: the policies that have a varied field as an option, or all)"`
	Budget              int      `shown:"200 per setting" doc:"run at most {N} replications in all settings together"`
	Within              float64  `doc:"stop if no other setting can be better by more than {D}"`
	Smooth              bool     `doc:"start with a golden-section search, for a metric with one peak"`
	Preset              string   `of:"preset" doc:"use the preset {NAME} instead of a file"`
	givenOptions        `yaml:",inline"`
	Workers             int    `default:"cpus" validate:"min=1" doc:"run {N} replications in parallel; the results do not depend on N"`
	Out                 string `alias:"o" doc:"write all results to {DIR}, and reuse the replications stored there"`
	Fresh               bool   `doc:"do not reuse the replications in --out"`
	noProgressOption    `yaml:",inline"`
	output[study.Tuned] `yaml:",inline"`
}

func tuneAction(c *cli.Context, o *tuneOptions) error {
	ask, err := tuneAsk(c)
	if err != nil {
		return err
	}
	ch := choice{command: []string{"bourse", "tune"}}
	if err := chooseOver(c, &ch); err != nil {
		return err
	}
	elapsed := stopwatch()
	opts := experiments.Options{Workers: o.Workers, Progress: progress(c, "tune "+ch.experiment.Name)}
	found, err := study.Tune(c.Context, &ch.experiment, ask, opts)
	if err != nil {
		return err
	}
	d, wrote := found.Document(), []string(nil)
	if out := o.Out; out != "" {
		if d.Scenario, err = ch.text(); err != nil {
			return err
		}
		if wrote, err = writeDocument(out, "report.html", d); err != nil {
			return err
		}
	}
	if o.JSON {
		err = printJSON(c, *found)
		noteWrote(c, wrote)
	} else {
		err = show(c, d, wrote)
	}
	note(c, "%s in %.1f s", count(found.Spent, "replication"), elapsed())
	if err == nil && found.Stop == study.Interrupted {
		return interruption("the results cover the replications so far")
	}
	return err
}

// tuneAsk returns the tuning request given by the flags of c.
func tuneAsk(c *cli.Context) (study.TuneAsk, error) {
	ask := study.TuneAsk{Goal: study.Goal{
		Metric: c.String("maximize"), Configuration: c.String("configuration"),
		Budget: c.Int("budget"), Within: c.Float64("within"), Smooth: c.Bool("smooth"),
	}}
	if least := c.String("minimize"); (ask.Metric == "") == (least == "") {
		return ask, usagef("found no metric, want --maximize or --minimize with a metric, such as --maximize efficiency_1")
	} else if least != "" {
		ask.Metric, ask.Least = least, true
	}
	if c.IsSet("budget") && ask.Budget < 1 {
		return ask, usagef("--budget: found %d, want at least 1", ask.Budget)
	}
	if names := c.String("policies"); names != "" {
		ask.Policies = strings.Split(names, ",")
	}
	if out := c.String("out"); out != "" && !c.Bool("fresh") {
		text, err := whole.Read(filepath.Join(out, study.TuneKnown), 1<<28)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return ask, err
		}
		ask.Known = text
	}
	return ask, nil
}

// chooseOver reads the scenario named on the command line and also varies the fields given
// by --over.
func chooseOver(c *cli.Context, ch *choice) error {
	known, err := knownTo(c)
	if err != nil {
		return err
	}
	var axes []scenario.Axis
	for _, text := range c.StringSlice("over") {
		axis, err := scenario.Over(text)
		if err != nil {
			return usagef("--over: %w", err)
		}
		axes = append(axes, axis)
	}
	known.Over = axes
	return ch.load(c, c.String("preset"), known)
}
