package main

import (
	"encoding/csv"
	"strconv"

	"bourse/experiments/misuse"
	"bourse/market"

	"github.com/urfave/cli/v2"
)

func marketCommand() *cli.Command {
	return &cli.Command{
		Name:  "market",
		Usage: "use the auction by itself",
		Subcommands: []*cli.Command{marketServeCommand(), marketRotateCommand(), {
			Name:      "clear",
			Usage:     "divide whole units among bidders in proportion to their rates",
			ArgsUsage: "BIDS.csv",
			Description: `Lines are bidder,rate; a header is optional. The units are divided exactly, by
largest remainder, whatever the order of the lines; bidders come out in order
of name. A file of - is standard input.

   printf 'ann,2\nbob,1\n' | bourse market clear - --capacity 10`,
			Flags: []cli.Flag{
				&cli.Int64Flag{Name: "capacity", DefaultText: "none: it must be given", Usage: "divide `N` units"},
				jsonFlag[[]market.Award](),
			},
			Action: clearAction,
		}},
	}
}

func clearAction(c *cli.Context) error {
	if !c.IsSet("capacity") {
		return usagef("%s: --capacity is missing; see '%s --help'", commandName(c), c.Command.HelpName)
	}
	capacity := c.Int64("capacity")
	if capacity < 0 {
		return usagef("--capacity: found %d, want at least 0", capacity)
	}
	name := c.Args().First()
	in, err := open(c, name)
	if err != nil {
		return err
	}
	defer in.Close()
	orders, err := market.ReadOrders(name, in)
	if err != nil {
		return misuse.Of(err)
	}
	awards, err := market.Clear(orders, capacity)
	if err != nil {
		return misuse.Of(err)
	}
	if c.Bool("json") {
		return printJSON(c, awards)
	}
	w := csv.NewWriter(c.App.Writer)
	for _, a := range awards {
		if err := w.Write([]string{a.Bidder, strconv.FormatInt(a.Units, 10)}); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}
