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

// opened is what programs read of a page that was opened.
type opened struct {
	Page    string `json:"page" doc:"path of the file"`
	Browser string `json:"browser,omitempty" doc:"program that shows it; left out if there is none"`
}

var openCommand = command(`open RESULTS
open the page of results in a browser

The page, report.html, begins with what was found. A point of a figure leads to its row,
a row to its replications, a replication to its jobs, and a job to its decision, its
prices and its entries in the ledger. It is one file: it needs no server, and can be sent.

BROWSER names programs with colons between, with their flags; %s in one is the page. The
first that is found shows it, else the desktop's own.

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
		return usagef("%s: found no report.html in it, want results, as 'bourse run' writes them", dir)
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

// openInBrowser shows a page and returns the program that does: the first there is of
// $BROWSER, a list of commands with colons between, and of what the desktop has; none where
// there is no desktop.
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
