package main

import (
	"fmt"

	"bourse/experiments/replay"

	"github.com/urfave/cli/v2"
)

// replayFlags say under which other rules it is decided again, and what is printed.
func replayFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "admission", Usage: "decide by `POLICY` instead, as 'bourse policies' lists them"},
		setFlag(),
		&cli.IntFlag{Name: "most", Value: 10, Usage: "print the `N` who gain, and who lose, most"},
		jsonFlag[replay.Report](),
	}
}

// replaySets returns the fields that c sets otherwise.
func replaySets(c *cli.Context) (sets []string) {
	if name := c.String("admission"); name != "" {
		sets = append(sets, "admission="+name)
	}
	return append(sets, c.StringSlice("set")...)
}

// printReplay prints what came of it.
func printReplay(c *cli.Context, r *replay.Report) error {
	if c.Bool("json") {
		return printJSON(c, *r)
	}
	_, err := fmt.Fprint(c.App.Writer, r.Text(max(0, c.Int("most"))))
	return err
}

