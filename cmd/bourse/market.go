package main

import (
	"encoding/csv"
	"strconv"

	"bourse/experiments/misuse"
	"bourse/market/clearing"

	"github.com/urfave/cli/v2"
)

var marketCommand = group(`market
run an auction on bids from a file`, marketClearCommand)

var marketClearCommand = command(`clear BIDS.csv
divide units among bidders in proportion to their rates

Each line is bidder,rate; a header is optional. The command divides all units by the
largest-remainder method. The result does not depend on the order of the lines. The output lists the
bidders sorted by name. If FILE is -, the command reads standard input.

   printf 'ann,2\nbob,1\n' | bourse market clear - --capacity 10`, clearAction)

type marketClearOptions struct {
	Capacity                     int64 `shown:"none; required" doc:"divide {N} units"`
	jsonOption[[]clearing.Award] `yaml:",inline"`
}

func clearAction(c *cli.Context, o *marketClearOptions) error {
	if !c.IsSet("capacity") {
		return usagef("%s: --capacity is missing; see '%s --help'", commandName(c), c.Command.HelpName)
	}
	capacity := o.Capacity
	if capacity < 0 {
		return usagef("--capacity: found %d, want at least 0", capacity)
	}
	name := c.Args().First()
	in, err := open(c, name)
	if err != nil {
		return err
	}
	defer in.Close()
	orders, err := clearing.ReadOrders(name, in)
	if err != nil {
		return misuse.Of(err)
	}
	awards, err := clearing.Clear(orders, capacity)
	if err != nil {
		return misuse.Of(err)
	}
	if o.JSON {
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
