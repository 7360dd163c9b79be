package main

import (
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/experiments/whatif"

	"github.com/urfave/cli/v2"
)

func explainCommand() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "say why a job was decided as it was, what would have been accepted, and what it costs others",
		ArgsUsage: "[RESULTS]",
		Description: `Runs a run of RESULTS again to the instant at which the job was submitted. Prints what it
asked for, what the policy looked at and which test decided; the least change of each of
its terms (budget, deadline, nodes, a later submission, class) with which the same policy
would have decided otherwise in the same state; and what would then have become of it and of
all others, with its externality: what the work of all others is worth without it (§4.2,
eq. 9, at --alpha), less what it is worth with it, its Clarke price. Of an accepted job it
prints how far it was from being refused, and the same externality.

A contract of a live market is a job of the run of what 'bourse live export' writes.

   bourse explain results --run high/cac/0 --job 7
   bourse explain results --run high/cac/0 --job 7 --out why --json`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "explain the run `CONFIGURATION/ADMISSION/REPLICATION` (default: the first replication, where there is one policy)"},
			&cli.Int64Flag{Name: "job", Usage: "explain job `N`", DefaultText: "none"},
			&cli.Float64Flag{Name: "alpha", Value: 1, Usage: "how inelastic users are, `A` from 0 (half of the work is worth half) to 1 (all or nothing)"},
			&cli.IntFlag{Name: "most", Value: 5, Usage: "print the `N` others who gain, and who lose, most"},
			&cli.BoolFlag{Name: "frontier", Usage: "find the least budget that would have been accepted, by deadline"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "draw that to `DIR`"},
			quietFlag(), outputFlag(explainJSON()),
		},
		Action: explainAction,
	}
}

// explainJSON is the second version: the first had contracts of live markets, too.
func explainJSON() report.Output {
	o := report.JSON[whatif.Explanation]()
	o.Version = 2
	return o
}

func explainAction(c *cli.Context) error {
	if !c.IsSet("job") {
		return usagef("--job: want the number of a job")
	}
	dir, err := results.Open(c.Args().First())
	if err != nil {
		return err
	}
	if err := dir.Unchanged(); err != nil {
		return err
	}
	e, err := scenario.Stored(dir.Path, dir.Manifest.Scenario)
	if err != nil {
		return err
	}
	e = e.Expanded()
	out := c.String("out")
	r, err := whatif.Explain(c.Context, &e, dir.Manifest.Inputs, c.String("run"), c.Int64("job"), c.Float64("alpha"), c.Bool("frontier") || out != "")
	if err != nil {
		return err
	}
	return showWithFigure(c, *r, r.Text(max(0, c.Int("most"))), r.Figure)
}
