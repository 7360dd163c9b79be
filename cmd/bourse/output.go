package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"bourse/experiments/report"

	"github.com/urfave/cli/v2"
)

// printsJSON returns what a command prints as JSON, if it does.
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

// count returns a number of things in words: 1 ledger, 2 ledgers.
func count(n int, of string) string {
	if n != 1 {
		of += "s"
	}
	return fmt.Sprintf("%d %s", n, of)
}

// note prints a line for people, except with --quiet.
func note(c *cli.Context, format string, args ...any) {
	if !c.Bool("quiet") {
		fmt.Fprintf(c.App.ErrWriter, format+"\n", args...)
	}
}

// writeDocument writes the figures of d to dir, and its page if that has a name, and
// returns the names of the files.
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

// show prints d: its JSON form if c requests it; otherwise its text, with the figures for the
// terminal. It names the files that were written.
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

// showOut prints d as show does, and writes its figures, and its page if that has a name, to
// the directory out, if it has a name.
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

// showWithFigure prints text, or value as JSON if c requests it. With --out it also writes
// the figure to that directory.
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

// noteWrote names the files that were written.
func noteWrote(c *cli.Context, files []string) {
	for _, name := range files {
		note(c, "wrote %s", name)
	}
}
