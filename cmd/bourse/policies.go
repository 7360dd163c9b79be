package main

import (
	"bourse/experiments"
	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
)

// familyNames returns the names of the families.
func familyNames() []string {
	var names []string
	for _, f := range experiments.Families() {
		names = append(names, f.Name)
	}
	return names
}

func policiesCommand() *cli.Command {
	return &cli.Command{
		Name:      "policies",
		Usage:     "list every plug-in with its options",
		ArgsUsage: "[FAMILY]",
		Description: `Families are admission, bidding, sharing, payment, forecaster, model, value, law (of
the quantities of model independent), availability (models of hosts that come and
go), predictor (of them), scheduler (the matchmakers of admission queue), matchmaking (of
admission reserve), leaving (what becomes of tasks on a host that leaves) and metric.

   bourse policies
   bourse policies admission --json`,
		Flags:  []cli.Flag{jsonFlag[[]experiments.Plugin]()},
		Action: policiesAction,
	}
}

func policiesAction(c *cli.Context) error {
	if err := between(c, 0, 1, "FAMILY"); err != nil {
		return err
	}
	all := experiments.Plugins(c.Args().First())
	if len(all) == 0 {
		return usagef("FAMILY: %s", scenario.Unknown(c.Args().First(), familyNames()))
	}
	return show(c, experiments.ListPlugins(all, terminal(c)), nil)
}
