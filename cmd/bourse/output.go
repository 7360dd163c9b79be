package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"bourse/experiments/report"

	"github.com/urfave/cli/v2"
)

// printsJSON returns the type that a command prints as JSON, or nil if the command has no
// JSON output.
func printsJSON(command *cli.Command) (o report.Output, ok bool) {
	for _, f := range command.Flags {
		if p, is := f.(programsFlag); is {
			return p.prints, true
		}
	}
	return o, false
}

// printJSON prints v as JSON.
func printJSON(c *cli.Context, v any) error { return writeJSON(c, c.App.Writer, v) }

func writeJSON(c *cli.Context, w io.Writer, v any) error {
	o, _ := printsJSON(c.Command)
	return o.Write(w, v)
}

// count formats a number with its noun: 1 ledger, 2 ledgers.
func count(n int, of string) string {
	if n != 1 {
		of += "s"
	}
	return fmt.Sprintf("%d %s", n, of)
}

// note prints a line for people unless --quiet is given.
func note(c *cli.Context, format string, args ...any) {
	if !c.Bool("quiet") {
		fmt.Fprintf(c.App.ErrWriter, format+"\n", args...)
	}
}

// writeDocument writes the figures of d to dir. If page is not empty, it also writes the
// page. It returns the names of the written files.
func writeDocument(dir, page string, d report.Document) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	files, err := d.Files(page)
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = filepath.Join(dir, file.Name)
		if err := os.WriteFile(names[i], file.Data, 0o644); err != nil {
			return nil, err
		}
	}
	return names, err
}

// show prints d. If c requests JSON, it prints the JSON form; if not, it prints the text,
// with the figures for the terminal. It then lists the written files.
func show(c *cli.Context, d report.Document, wrote []string, drawn ...report.Figure) error {
	if c.Bool("json") {
		return printJSON(c, d.Values(wrote))
	}
	text := d.Text(terminal(c))
	for _, f := range drawn {
		text += "\n" + f.Text(terminal(c))
	}
	_, err := io.WriteString(c.App.Writer, text)
	noteWrote(c, wrote)
	return err
}

// showOut prints d in the same way as show. If out is not empty, it also writes the figures to
// that directory and, if page is not empty, the page.
func showOut(c *cli.Context, out, page string, d report.Document, drawn ...report.Figure) error {
	if out == "" {
		return show(c, d, nil, drawn...)
	}
	wrote, err := writeDocument(out, page, d)
	if err != nil {
		return err
	}
	return show(c, d, wrote)
}

// showWithFigure prints text, or value as JSON if c requests it. With --out, it also writes
// the figure to the given directory.
func showWithFigure(c *cli.Context, value any, text string, figure func() report.Figure) error {
	if out := c.String("out"); out != "" {
		wrote, err := writeDocument(out, "", report.Document{Figures: []report.Figure{figure()}})
		if err != nil {
			return err
		}
		defer noteWrote(c, wrote)
	}
	if c.Bool("json") {
		return printJSON(c, value)
	}
	_, err := io.WriteString(c.App.Writer, text)
	return err
}

// noteWrote prints the names of the written files.
func noteWrote(c *cli.Context, files []string) {
	for _, name := range files {
		note(c, "wrote %s", name)
	}
}
