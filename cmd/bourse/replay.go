package main

import (
	"slices"
	"strings"

	"bourse/experiments"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/experiments/whatif"

	"github.com/urfave/cli/v2"
)

func replayCommand() *cli.Command {
	return &cli.Command{
		Name:      "replay",
		Usage:     "decide again what was asked in a run, under another policy: who gains, who loses",
		ArgsUsage: "RESULTS",
		Description: `RESULTS is a directory that 'bourse run' wrote. Runs one of its runs again, and once more
under another policy, or with another field of its configuration, on the same jobs and
hosts, and prints who gains and who loses by it: what a job is worth to its owner (§4.2,
eq. 9, at --alpha), less what it paid, and penalties.

   bourse replay results --run high/be/0 --admission cac
   bourse replay results --run high/cac/3 --admission '{name: cac, guarantee: 0.99}' --alpha 0.5 --out drawn
   bourse replay results --run high/be/0 --set market.payment=bid --json`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "admission", Usage: "decide by `POLICY` instead, as 'bourse policies' lists them"},
			setFlag(),
			&cli.IntFlag{Name: "most", Value: 10, Usage: "print the `N` who gain, and who lose, most"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "draw what owners have, under both, to `DIR`"},
			quietFlag(), jsonFlag[whatif.Replayed](),
			&cli.StringFlag{Name: "run", Usage: "take the run `CONFIGURATION/ADMISSION/REPLICATION` (default: the first replication, where there is one policy)"},
			&cli.Float64Flag{Name: "alpha", Value: 1, Usage: "how inelastic users are, `A` from 0 (half of the work is worth half) to 1 (all or nothing)"},
		},
		Action: func(c *cli.Context) error {
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
			var sets []string
			if name := c.String("admission"); name != "" {
				if names := experiments.NamesOf("admission"); !strings.ContainsAny(name, "{:") && !slices.Contains(names, name) {
					return usagef("--admission: %s", scenario.Unknown(name, names))
				}
				sets = append(sets, "admission="+name)
			}
			r, err := whatif.Replay(c.Context, &e, dir.Manifest.Inputs, c.String("run"), c.Float64("alpha"), append(sets, c.StringSlice("set")...)...)
			if err != nil {
				return err
			}
			return showWithFigure(c, *r, r.Text(max(0, c.Int("most"))), r.Figure)
		},
	}
}
