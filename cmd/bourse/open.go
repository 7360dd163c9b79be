package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/urfave/cli/v2"
)

// opened is what programs read of a page that was opened.
type opened struct {
	Page    string `json:"page" doc:"path of the file"`
	Browser string `json:"browser,omitempty" doc:"program that shows it; left out if there is none"`
}

func openCommand() *cli.Command {
	return &cli.Command{
		Name:      "open",
		Usage:     "open the page of results in a browser, or print its path where there is none",
		ArgsUsage: "RESULTS",
		Description: `The page, report.html, begins with what was found. A point of a figure leads to its row,
a row to its replications, a replication to its jobs, and a job to its decision, its
prices and its entries in the ledger. It is one file: it needs no server, and can be sent.

   bourse run && bourse open results/paper
   BROWSER=firefox bourse open results/paper`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "print", Usage: "print the path and open nothing"},
			jsonFlag[opened](),
		},
		Action: openAction,
	}
}

func openAction(c *cli.Context) error {
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
	o := opened{Page: page}
	if program := browser(); program != "" && !c.Bool("print") {
		if err := exec.Command(program, page).Start(); err == nil {
			o.Browser = program
		}
	}
	if c.Bool("json") {
		return printJSON(c, o)
	}
	_, err = fmt.Fprintln(c.App.Writer, o.Page)
	return err
}

// browser returns the program that shows a page: $BROWSER, or what the desktop has; none
// where there is no desktop.
func browser() string {
	names := []string{os.Getenv("BROWSER")}
	switch {
	case runtime.GOOS == "darwin":
		names = append(names, "open")
	case os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "":
		names = append(names, "xdg-open")
	}
	for _, name := range names {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
