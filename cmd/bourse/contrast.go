package main

import (
	"math"
	"slices"

	"bourse/experiments/contrast"
	"bourse/experiments/publication"
	"bourse/experiments/results"
	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
)

var contrastCommand = command(`compare RESULTS [RESULTS2]
compare policies or results by paired differences

For each metric, the command compares all pairs of policies, or each policy with the baseline. It
prints the difference of means with its simultaneous 95 % interval and its p value. It also prints
the p value corrected for all comparisons (Bonferroni). It prints the standardized effect, and the
number of replications needed to detect this effect with a power of 80 %. A difference is undecided
if its interval contains 0. Replications with the same seed are compared in pairs; results with
different seeds are compared by Welch's test. --margin states the smallest difference that matters.
The command then also tests whether two means are equivalent (two one-sided tests). With --out, it
writes a page and one forest plot per metric.

   bourse compare results/paper --metric efficiency_1 --baseline cac
   bourse compare results/paper --metric violations --across configurations
   bourse compare results/paper --users --baseline cac
   bourse compare results/a results/b --metric efficiency_0.5 --margin 0.02 --out compared`, contrastAction)

type contrastOptions struct {
	Metric                   []string `alias:"m" doc:"compare {METRIC}, from 'bourse scenario options metric'; may be repeated (default: the first metric of the run)"`
	Baseline                 string   `doc:"use {NAME} as the baseline of all comparisons, instead of comparing all pairs"`
	Across                   string   `shown:"policies, or results if there are two" doc:"compare {policies}, configurations or results with each other"`
	Users                    bool     `doc:"compare the gains of users: the value of jobs done in time, minus payments, plus penalties"`
	Margin                   float64  `doc:"treat differences below {M} as unimportant, in units of the metric"`
	Out                      string   `alias:"o" doc:"write the page and the figures to {DIR}"`
	output2[contrast.Values] `yaml:",inline"`
}

func contrastAction(c *cli.Context, o *contrastOptions) error {
	if c.NArg() < 1 || c.NArg() > 2 {
		return usagef("compare: found %d results directories, want one or two", c.NArg())
	}
	ask := contrast.Ask{Metrics: o.Metric, Across: o.Across, Baseline: o.Baseline, Margin: o.Margin, Users: o.Users, Unsized: o.Users}
	if m := ask.Margin; c.IsSet("margin") && (!(m > 0) || math.IsInf(m, 0)) {
		return usagef("--margin: found %v, want a number above 0", m)
	}
	slices.Sort(ask.Metrics)
	ask.Metrics = slices.Compact(ask.Metrics)
	switch ask.Across {
	case "":
		ask.Across = contrast.Policies
		if c.NArg() == 2 {
			ask.Across = contrast.Results
		}
	case contrast.Policies, contrast.Configurations, contrast.Results:
	default:
		return usagef("--across: found %q, want policies, configurations or results", ask.Across)
	}
	var dirs []*results.Dir
	for _, path := range c.Args().Slice() {
		dir, err := results.Open(path)
		if err != nil {
			return err
		}
		dirs = append(dirs, dir)
	}
	switch {
	case o.Users && len(ask.Metrics) > 0:
		return usagef("--metric, --users: found both flags, want only one")
	case len(ask.Metrics) == 0 && !o.Users:
		e, err := scenario.Stored(dirs[0].Path, dirs[0].Manifest.Scenario)
		if err != nil {
			return err
		}
		ask.Metrics = e.Headline()[:1]
	}
	d, err := publication.Contrasted(dirs, ask)
	if err != nil {
		return err
	}
	return showOut(c, o.Out, "compare.html", d)
}
