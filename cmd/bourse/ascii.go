package main

import (
	"slices"

	"bourse/experiments/report"

	"github.com/urfave/cli/v2"
)

// data lists the commands whose output must consist of the same bytes in every locale.
var data = []string{
	"scenario show", "scenario schema", "workload generate", "workload convert", "workload schedule",
	"bank apply", "bank balance", "bank log", "bank sign", "ledger export", "ledger prove", "ledger checkpoint", "ledger publish",
	"bank key", "market clear", "completion",
}

// printPlain adapts the output of app to the locale, and makes every command state its kind of
// output.
func printPlain(app *cli.App) {
	out := &report.PlainWriter{Writer: app.Writer, Convert: report.ASCII}
	app.Writer, app.ErrWriter = out, &report.PlainWriter{Writer: app.ErrWriter, Convert: report.ASCII}
	var each func([]*cli.Command)
	each = func(commands []*cli.Command) {
		for _, c := range commands {
			each(c.Subcommands)
			if act := c.Action; act != nil {
				c.Action = func(c *cli.Context) error {
					switch {
					case slices.Contains(data, commandName(c)):
						out.Convert = nil
					case c.Bool("json"):
						out.Convert = report.Escaped
					}
					return act(c)
				}
			}
		}
	}
	each(app.Commands)
}
