package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"bourse/experiments/results"

	"github.com/urfave/cli/v2"
)

// opened is the JSON output of a command that opens a page.
type opened struct {
	Page    string `json:"page" doc:"path of the file"`
	Browser string `json:"browser,omitempty" doc:"program that shows the page; omitted if no program is found"`
}

var openCommand = command(`open RESULTS
open the report of a results directory in a browser

The page, report.html, begins with the findings. Links lead from each point of a figure to a row of
the summary, to the replications of this row and to their jobs. Each job shows its decision, prices
and ledger entries. The page is a single file that needs no server, so you can send it to others.

BROWSER lists programs with their flags, separated by colons; %s is replaced by the path of the
page. The command uses the first program that exists, or the desktop's default program.

   bourse run && bourse open results/paper
   BROWSER=firefox bourse open results/paper`, openAction)

type openOptions struct {
	Print              bool `doc:"print the path of the page, without opening it"`
	jsonOption[opened] `yaml:",inline"`
}

func openAction(c *cli.Context, o *openOptions) error {
	dir := c.Args().First()
	page, err := filepath.Abs(filepath.Join(dir, "report.html"))
	if err != nil {
		return err
	}
	if _, err := os.Stat(page); errors.Is(err, fs.ErrNotExist) {
		return usagef("%s: found no report.html, want results of 'bourse run'", dir)
	} else if err != nil {
		return err
	}
	r, err := results.Open(dir)
	if err == nil {
		err = r.Unchanged("report.html")
	}
	if err != nil {
		return err
	}
	shown := opened{Page: page}
	if !o.Print {
		shown.Browser = openInBrowser(page)
		if wanted := os.Getenv("BROWSER"); wanted != "" && shown.Browser == "" {
			fmt.Fprintf(c.App.ErrWriter, "bourse: BROWSER=%s: found no such program; open this file in a browser\n", wanted)
		}
	}
	if o.JSON {
		return printJSON(c, shown)
	}
	_, err = fmt.Fprintln(c.App.Writer, shown.Page)
	return err
}

// openInBrowser opens a page in a browser and returns the name of the program that it started.
// It tries the programs in $BROWSER, a list separated by colons, and then the desktop's own
// programs. Without a desktop, it opens nothing.
func openInBrowser(page string) string {
	commands := strings.Split(os.Getenv("BROWSER"), ":")
	switch {
	case runtime.GOOS == "darwin":
		commands = append(commands, "open")
	case os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "":
		commands = append(commands, "xdg-open")
	}
	for _, command := range commands {
		words := strings.Fields(command)
		if len(words) == 0 {
			continue
		}
		if !strings.Contains(command, "%s") {
			words = append(words, "%s")
		}
		for i, w := range words[1:] {
			words[i+1] = strings.ReplaceAll(w, "%s", page)
		}
		if c := exec.Command(words[0], words[1:]...); c.Start() == nil {
			return c.Path
		}
	}
	return ""
}
