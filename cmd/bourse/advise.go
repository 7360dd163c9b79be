package main

import (
	"bourse/experiments/advise"
	"bourse/experiments/papers"
	"bourse/experiments/results"

	"github.com/urfave/cli/v2"
)

func adviseCommand() *cli.Command {
	return &cli.Command{
		Name:      "advise",
		Usage:     "say whether to reserve or to buy on the spot market (§5)",
		ArgsUsage: "[RESULTS]",
		Description: `From numbers: p_a, the probability of admission by the reservation market; p_w,
that of fulfilment on the spot market; p_d, the work completed there; q, cost
over value. Or from a finished run, configuration by configuration: p_a of the
reservation policy, p_w, p_d and q of be.

   bourse advise --pa 0.63 --pw 0.39 --q 0.14
   bourse advise results/paper --reservation cac`,
		Flags: []cli.Flag{
			&cli.Float64Flag{Name: "pa", DefaultText: "none", Usage: "probability of admission, in [0,1]"},
			&cli.Float64Flag{Name: "pw", DefaultText: "none", Usage: "probability of fulfilment, in [0,1]"},
			&cli.Float64Flag{Name: "pd", DefaultText: "none", Usage: "fraction of work completed, in [0,1]"},
			&cli.Float64Flag{Name: "q", DefaultText: "none", Usage: "cost over value, in [0,1)"},
			&cli.StringFlag{Name: "reservation", Value: papers.Of("").Reservation, Usage: "admission `POLICY` that stands for the reservation market"},
			jsonFlag[[]advise.Advice](),
		},
		Action: adviseAction,
	}
}

func adviseAction(c *cli.Context) error {
	all := []advise.Advice{{Numbers: make(map[string]float64)}}
	if c.NArg() == 1 {
		dir, err := results.Open(c.Args().First())
		if err != nil {
			return err
		}
		if all, err = advise.Measured(dir, papers.Of("").Spot, c.String("reservation")); err != nil {
			return err
		}
	} else {
		for flag, name := range map[string]string{"pa": "p_a", "pw": "p_w", "pd": "p_d", "q": "q"} {
			if c.IsSet(flag) {
				all[0].Numbers[name] = c.Float64(flag)
			}
		}
	}
	d, err := advise.Weigh(all)
	if err != nil {
		return err
	}
	return show(c, d, nil)
}
