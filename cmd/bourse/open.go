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
	Browser string `json:"browser,omitempty" doc:"program that shows it; omitted if there is none"`
}

var openCommand = command(`open RESULTS
open the page of results in a browser

The page, report.html, begins with the findings. A point of a figure links to its
row, a row to its replications, a replication to its jobs, and a job to its decision,
its prices and its entries in the ledger. It is one file. It needs no server, so you
can send it.

BROWSER names programs, separated by colons, with their flags; %s in one is the page.
The first program that exists shows the page, or the default program of the desktop.

   bourse run && bourse open results/paper
   BROWSER=firefox bourse open results/paper`, openAction)

type openOptions struct {
	Print              bool `doc:"print the path and open nothing"`
	jsonOption[opened] `yaml:",inline"`
}

func openAction(c *cli.Context, o *openOptions) error {
	dir := c.Args().First()
	page, err := filepath.Abs(filepath.Join(dir, "report.html"))
	if err != nil {
		return err
	}
	if _, err := os.Stat(page); errors.Is(err, fs.ErrNotExist) {
		return usagef("%s: found no report.html in it, want results of 'bourse run'", dir)
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

// openInBrowser opens a page in a browser and returns the name of that program. It tries
// the programs of $BROWSER, a list separated by colons, and then those of the desktop.
// Without a desktop, it opens nothing.
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
