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

The time is the processor time of all replications, which can run on several workers. The memory is
for one worker. Time and memory were measured once, on one machine, so use them only to compare
presets. The command 'bourse run --preset' also accepts the name of a paper, and then runs all of
its presets.

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
	fmt.Fprintln(w, "preset\treplications\ttime\tmemory\tdescription")
	for _, p := range all {
		fmt.Fprintf(w, "%s\t%d\t%v\t%.0f MB\t%s\n", p.Name, p.Replications, took(p.Seconds), p.Megabytes, p.Title)
	}
	w.Flush() // writes to a Builder cannot fail
	at := strings.Index(rows.String(), "description")
	for line := range strings.Lines(rows.String()) {
		line = strings.TrimSuffix(line, "\n")
		if _, err := fmt.Fprintln(c.App.Writer, terminal(c).Hang(line[:at], line[at:])); err != nil {
			return err
		}
	}
	return nil
}

// took formats a duration in seconds as rounded does, but with one decimal if the duration
// is short.
func took(seconds float64) time.Duration {
	if seconds < 10 {
		return time.Duration(seconds * float64(time.Second)).Round(100 * time.Millisecond)
	}
	return rounded(seconds)
}
