package main

import (
	"bourse/experiments/live"
	"bourse/experiments/live/lab"

	"github.com/urfave/cli/v2"
)

func liveReplayCommand() *cli.Command {
	return &cli.Command{
		Name:      "replay",
		Usage:     "decide again what was asked of a market, under other rules: who gains, who loses",
		ArgsUsage: "[DIR]",
		Description: `Decides all that the market's log tells of under its own rules, and again under others, on
hosts that are computed, and come and go as they did; and prints what really was, both, and
who gains and loses by the other. A contract that is fulfilled is worth its budget to its
owner. Programs need the work that they had if they ended by themselves; of others, as of
those that were refused, it is not known: they need what was asked for. The market must not
be running.

   bourse live replay --admission cac
   bourse live replay lab --set admission.default=cac --set market.payment=bid --json`,
		Flags: append(replayFlags(), homeFlag()),
		Action: func(c *cli.Context) error {
			dir, err := labDir(c)
			if err != nil {
				return err
			}
			r, err := live.Replay(lab.File(dir, "log"), nil, replaySets(c)...)
			if err != nil {
				return err
			}
			return printReplay(c, r)
		},
	}
}
