package main

import (
	"math"
	"slices"

	"bourse/experiments"
	"bourse/experiments/contrast"
	"bourse/experiments/report"
	"bourse/experiments/results"

	"github.com/urfave/cli/v2"
)

func contrastCommand() *cli.Command {
	return &cli.Command{
		Name:      "compare",
		Usage:     "compare policies, configurations or two results by paired differences",
		ArgsUsage: "RESULTS [RESULTS2]",
		Description: `For each metric all pairs, or each with the baseline: the difference of means with its
simultaneous 95 % interval, p, p corrected for all comparisons (Bonferroni), the
standardized effect, and the replications that would show such a difference with a power
of 80 %. A verdict is where the interval lies: undecided if it contains 0. Replications of
one seed are compared in pairs; results of different seeds by Welch's test. With a
margin, the smallest difference that matters, it also tests whether two are alike (two
one-sided tests). --out writes the page and a forest plot a metric.

   bourse compare results/paper --metric efficiency_1 --baseline cac
   bourse compare results/paper --metric violations --across configurations
   bourse compare results/a results/b --metric efficiency_0.5 --margin 0.02 --out compared`,
		Flags: append([]cli.Flag{
			&cli.StringSliceFlag{Name: "metric", Aliases: []string{"m"}, Usage: "compare `METRIC`, as 'bourse policies metric' lists them; may be repeated"},
			&cli.StringFlag{Name: "baseline", Usage: "compare the others with `NAME` alone, not all pairs"},
			&cli.StringFlag{Name: "across", DefaultText: "policies, or results where there are two", Usage: "what differs: `policies`, configurations or results"},
			&cli.Float64Flag{Name: "margin", Usage: "the smallest difference that matters, `M`"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write the page and the figures to `DIR`"},
		}, shownFlags(contrastJSON())...),
		Action: contrastAction,
	}
}

// contrastJSON is the second version: the first had the interval of each difference by itself,
// and p values corrected by Holm.
func contrastJSON() report.Output {
	o := report.JSON[contrast.Values]()
	o.Version = 2
	return o
}

func contrastAction(c *cli.Context) error {
	if c.NArg() < 1 || c.NArg() > 2 {
		return usagef("compare: found %d results directories, want one or two", c.NArg())
	}
	if !c.IsSet("metric") {
		return usagef("--metric is missing, want one such as efficiency_1; 'bourse policies metric' lists them")
	}
	ask := contrast.Ask{Metrics: c.StringSlice("metric"), Across: c.String("across"), Baseline: c.String("baseline"), Margin: c.Float64("margin")}
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
	d, err := experiments.Contrasted(dirs, ask)
	if err != nil {
		return err
	}
	out := c.String("out")
	if out == "" {
		return show(c, d, nil)
	}
	wrote, err := writeDocument(out, "compare.html", d)
	if err != nil {
		return err
	}
	return show(c, d, wrote)
}
