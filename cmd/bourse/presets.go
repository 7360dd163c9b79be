package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"bourse/experiments/catalog"

	"github.com/urfave/cli/v2"
)

var presetsCommand = command(`list
list presets, with their running times

Time is of one processor for all replications, and is divided among workers; memory is
with one worker. Both were measured once, on one machine: they are there to be compared.
A paper's name runs all of its presets.

   bourse scenario list
   bourse run --preset spot-or-reserve`, presetsAction)

type presetsOptions struct {
	jsonOption[[]catalog.Preset] `yaml:",inline"`
}

func presetsAction(c *cli.Context, o *presetsOptions) error {
	all, err := catalog.Presets()
	if err != nil {
		return err
	}
	if o.JSON {
		return printJSON(c, all)
	}
	var rows strings.Builder
	w := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "preset\treplications\ttime\tmemory\twhat")
	for _, p := range all {
		fmt.Fprintf(w, "%s\t%d\t%v\t%.0f MB\t%s\n", p.Name, p.Replications, took(p.Seconds), p.Megabytes, p.Title)
	}
	w.Flush() // a Builder does not fail
	at := strings.Index(rows.String(), "what")
	for line := range strings.Lines(rows.String()) {
		line = strings.TrimSuffix(line, "\n")
		if _, err := fmt.Fprintln(c.App.Writer, terminal(c).Hang(line[:at], line[at:])); err != nil {
			return err
		}
	}
	return nil
}

// took returns seconds as rounded does, or with a decimal where they are few.
func took(seconds float64) time.Duration {
	if seconds < 10 {
		return time.Duration(seconds * float64(time.Second)).Round(100 * time.Millisecond)
	}
	return rounded(seconds)
}
