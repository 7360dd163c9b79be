package main

import (
	"encoding/csv"
	"iter"
	"strconv"

	"bourse/experiments/publication"
	"bourse/experiments/report"
	"bourse/experiments/results"

	"github.com/urfave/cli/v2"
)

var showResultsCommand = group(`show tables|claims|compare|curve|prices|jobs RESULTS
print tables, claims or rows of results

   bourse show tables results/paper
   bourse show claims results/paper --brief
   bourse show compare results/paper --metric violations
   bourse show jobs results/paper --rows 50
   bourse show prices results/paper --csv > prices.csv`,
	command(`tables RESULTS
print all tables and notes

   bourse show tables results/paper`, showTables),
	under("show", claimsCommand), under("show", contrastCommand),
	command(`curve RESULTS
draw efficiency against alpha in the terminal

   bourse show curve results/paper`, showCurve),
	rowsCommand("prices", func(d *results.Dir) iter.Seq2[[]string, error] { return results.Texts(d.Prices(nil)) }),
	rowsCommand("jobs", func(d *results.Dir) iter.Seq2[[]string, error] { return results.Texts(d.Jobs(nil, nil)) }))

func showTables(c *cli.Context, _ *output[publication.StudyValues]) error {
	dir, err := results.Open(c.Args().First())
	if err != nil {
		return err
	}
	if dir.Manifest.Format == results.Format {
		s, err := publication.Studied(dir, stands)
		if err != nil {
			return err
		}
		return show(c, s.Document(dir.Path), nil)
	}
	d, err := publication.Drawn(dir) // nil if the results were written by an older version
	if err != nil {
		return err
	}
	return show(c, d, nil)
}

// showCurve draws the curve of results in the terminal.
func showCurve(c *cli.Context, _ *output[publication.DrawnValues]) error {
	dir, err := results.Open(c.Args().First())
	if err != nil {
		return err
	}
	d, err := publication.Plotted(dir, publication.Ask{})
	if err != nil {
		return err
	}
	return show(c, d, nil, d.Figures...)
}

// rowsCommand returns a command that prints the first rows of a table of results.
func rowsCommand(table string, rows func(*results.Dir) iter.Seq2[[]string, error]) func() *cli.Command {
	return command(table+` RESULTS
print the first rows of the table of `+table+`

   bourse show `+table+` results/paper --rows 50
   bourse show `+table+` results/paper --csv > `+table+`.csv`,
		func(c *cli.Context, o *rowsOptions) error {
			dir, err := results.Open(c.Args().First())
			if err != nil {
				return err
			}
			if dir.File(table) == "" {
				return usagef("%s: the run stored no table of %s; run it again with --tables", dir.Path, table)
			}
			if !o.CSV {
				return printRows(c, o.Rows, rows(dir))
			}
			w := csv.NewWriter(c.App.Writer)
			for row, err := range rows(dir) {
				if err != nil {
					return err
				}
				w.Write(row) // Flush returns its error
			}
			w.Flush()
			return w.Error()
		})
}

type rowsOptions struct {
	Rows int  `default:"20" validate:"min=0" doc:"print {N} rows; 0 prints all"`
	CSV  bool `doc:"print all rows as CSV"`
}

// printRows prints the first rows as a table, and the total number of rows.
func printRows(c *cli.Context, most int, rows iter.Seq2[[]string, error]) error {
	t := report.Table{Left: 2} // configuration and policy
	n := 0
	for row, err := range rows {
		if err != nil {
			return err
		}
		if t.Header == nil {
			t.Header = row
			continue
		}
		if n++; most > 0 && n > most {
			continue
		}
		cells := make([]report.Cell, len(row))
		for i := range row {
			cells[i].Text = row[i]
		}
		t.Rows = append(t.Rows, cells)
	}
	if len(t.Rows) < n {
		t.Note = "The first " + strconv.Itoa(len(t.Rows)) + " of " + strconv.Itoa(n) + " rows; --rows 0 prints all rows, and --csv prints them as CSV."
	}
	return show(c, report.Document{Tables: []report.Table{t}}, nil)
}
