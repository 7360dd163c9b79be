package main

import (
	"math"
	"strconv"
	"strings"

	"bourse/experiments"
	"bourse/experiments/whatif"

	"github.com/urfave/cli/v2"
)

func incentivesCommand() *cli.Command {
	return &cli.Command{
		Name:      "incentives",
		Usage:     "say whether a user would gain by lying, policy by policy",
		ArgsUsage: "[FILE]",
		Description: `Runs each replication of a scenario (default: the paper's) in truth, and again for each
user that it samples and each lie: the user tells it of all its jobs, all others tell the
truth, on the same jobs, hosts and streams. Prints the mean gain in true utility (§4.2, eq. 9,
at --alpha, less what is paid), the share of users who gain and the largest gain, with
intervals that hold at once. Then users answer one another in turn, each by what serves it
best, until nobody gains more than --epsilon; prints where they come to, and its price of
anarchy against U*. True work and value stay: only what is said changes. Lies are

` + whatif.DeviationKinds() + `
   bourse incentives --configuration pareto-high --replications 20
   bourse incentives mine.yaml --lie value=0.5 --lie value=2 --alpha 0.5 --out lies
   bourse incentives mine.yaml --lie sybils=3 --users 5 --answers 0 --json`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "preset", Usage: "run the preset `NAME` in place of a file"},
			&cli.StringSliceFlag{Name: "configuration", Usage: "run the configuration `NAME` alone; may be repeated"},
			&cli.StringFlag{Name: "replications", Aliases: []string{"n"}, Usage: "repeat every configuration `N` times, each with its own workload"},
			&cli.StringFlag{Name: "seed", Usage: "derive every use of chance from `SEED`"},
			&cli.StringSliceFlag{Name: "set", Usage: "override a field of the scenario: `PATH=VALUE`"},
			&cli.StringSliceFlag{Name: "lie", Usage: "try `KIND=NUMBER`; may be repeated", DefaultText: said(whatif.UsualDeviations())},
			&cli.Float64Flag{Name: "alpha", Value: 1, Usage: "how inelastic users are, `A` from 0 (half of the work is worth half) to 1 (all or nothing)"},
			&cli.Float64Flag{Name: "epsilon", Value: 1, Usage: "a gain of no more than `E` dollars is none"},
			&cli.StringFlag{Name: "users", Value: "10", Usage: "tempt `N` users of each replication, drawn at random, or all"},
			&cli.IntFlag{Name: "answers", Value: 5, Usage: "let users answer one another in the first `N` replications"},
			&cli.IntFlag{Name: "rounds", Value: 30, Usage: "let them do so for `N` rounds at most"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write the page, the figure and the rows as CSV to `DIR`"},
			workersFlag("replications"),
			noProgressFlag(),
		}, outputFlags[whatif.IncentiveStudy]()...),
		Action: incentivesAction,
	}
}

func said(deviations []whatif.Deviation) string {
	var all []string
	for _, d := range deviations {
		all = append(all, d.String())
	}
	return strings.Join(all, ", ")
}

func incentivesAction(c *cli.Context) error {
	if err := checkWorkers(c); err != nil {
		return err
	}
	users := math.MaxInt // all
	if said := c.String("users"); said != "all" {
		n, err := strconv.Atoi(said)
		if err != nil || n < 1 {
			return usagef("--users: found %q, want a whole number from 1, or all", said)
		}
		users = n
	}
	t := whatif.Deviations{
		Configurations: c.StringSlice("configuration"), Deviations: whatif.UsualDeviations(),
		Alpha: c.Float64("alpha"), Epsilon: c.Float64("epsilon"),
		Users: users, Answers: c.Int("answers"), Rounds: c.Int("rounds"), Workers: c.Int("workers"),
		Progress: progress(c, "incentives"),
	}
	if c.IsSet("lie") {
		t.Deviations = nil
	}
	for _, text := range c.StringSlice("lie") {
		d, err := whatif.ParseDeviation(text)
		if err != nil {
			return usagef("--lie: %w", err)
		}
		t.Deviations = append(t.Deviations, d)
	}
	ch, err := choose(c, c.String("preset"))
	if err != nil {
		return err
	}
	r, err := await(c.Context, func() (*whatif.IncentiveStudy, error) {
		return whatif.Incentives(c.Context, &ch.experiment, t)
	})
	if err != nil {
		return err
	}
	d := r.Document(experiments.Labels())
	out := c.String("out")
	if out == "" {
		return show(c, d, nil)
	}
	wrote, err := writeDocument(out, "incentives.html", d)
	if err != nil {
		return err
	}
	return show(c, d, wrote)
}
