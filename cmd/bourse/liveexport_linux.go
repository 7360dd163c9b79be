package main

import (
	"os"
	"path/filepath"
	"strings"

	"bourse/bank/whole"
	"bourse/experiments/live"
	"bourse/experiments/live/lab"

	"github.com/urfave/cli/v2"
)

var liveExportCommand = command(`export [DIR]
write a market's requests as a scenario with its plan

Writes four files from the log of the market in DIR. The market must not be running.
For --out day.csv, they are the plan day.csv, the scenario day.yaml with the market's
rules and hosts, and the market's decisions and outcomes in day-live.csv. If hosts
came and went, day-hosts.csv contains the times. A run of the scenario makes the same
decisions as the market. 'bourse explain', 'replay' and 'compare' then answer
questions about it. The number of a job is the number of its contract.

For a program that ended by itself, the work is the work that it received. For other
programs, such as rejected ones, the requested work is the best estimate. The
scenario begins with comments on what it omits, such as requests that could not be
paid.

   bourse live export --out day.csv
   bourse run day.yaml --out day && bourse study replay day --admission cac`, func(c *cli.Context, o *liveExportOptions) error {
	folder, name := filepath.Split(o.Out)
	for _, ext := range []string{".csv", ".yaml", ".yml"} {
		name = strings.TrimSuffix(name, ext)
	}
	if name == "" {
		return usagef("--out: want the name of the plan, such as day.csv")
	}
	dir, err := labDir(c)
	if err != nil {
		return err
	}
	x, err := live.Export(lab.File(dir, "log"), nil)
	if err != nil {
		return err
	}
	files, err := x.Files(name)
	if err != nil {
		return err
	}
	if folder != "" {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := whole.Write(filepath.Join(folder, f.Name), f.Text); err != nil {
			return err
		}
		note(c, "wrote %s", filepath.Join(folder, f.Name))
	}
	for _, n := range x.Notes {
		note(c, "%s", n)
	}
	return nil
})

type liveExportOptions struct {
	Out         string `alias:"o" doc:"write the plan to {PLAN}, and the other files to the same folder"`
	homeOption  `yaml:",inline"`
	quietOption `yaml:",inline"`
}
