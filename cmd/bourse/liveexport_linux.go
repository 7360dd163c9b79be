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
write a market's requests as a scenario and a plan

The command reads the log of the market in DIR, which must be stopped. With --out day.csv, it writes
three files: the plan (day.csv), a scenario with the market's rules and hosts (day.yaml), and the
market's decisions and outcomes (day-live.csv). If hosts joined or left, it writes the times to
day-hosts.csv. A run of the scenario makes the same decisions as the market. You can analyse its
results with 'bourse explain', 'replay' and 'compare'. Each job has the same number as its contract.
If a program ended by itself, the plan states the work that it did. For other programs, such as
rejected ones, the plan states the requested work as the best estimate. Comments at the start of the
scenario list the omitted requests, such as requests whose owners could not pay.

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
