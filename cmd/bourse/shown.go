package main

import (
	"encoding/csv"
	"iter"
	"strconv"

	"bourse/experiments"
	"bourse/experiments/report"
	"bourse/experiments/results"

	"github.com/urfave/cli/v2"
)

func showResultsCommand() *cli.Command {
	claims, compare := claimsCommand(), contrastCommand()
	claims.Description += "\n   bourse show claims results/paper --brief"
	compare.Description += "\n   bourse show compare results/paper --metric violations"
	return &cli.Command{
		Name:      "show",
		Usage:     "print what results hold: tables, claims, comparisons, rows",
		ArgsUsage: "tables|claims|compare|curve|prices|jobs RESULTS",
		Description: `   bourse show tables results/paper
   bourse show claims results/paper --brief
   bourse show compare results/paper --metric violations
   bourse show jobs results/paper --rows 50
   bourse show prices results/paper --csv > prices.csv`,
		Subcommands: []*cli.Command{
			{
				Name: "tables", Usage: "print every table and note", ArgsUsage: "RESULTS",
				Description: "   bourse show tables results/paper",
				Flags:       outputFlags[experiments.StudyValues](), Action: showTables,
			},
			claims, compare,
			{
				Name: "curve", Usage: "draw efficiency against alpha in the terminal", ArgsUsage: "RESULTS",
				Description: "   bourse show curve results/paper",
				Flags:       outputFlags[experiments.DrawnValues](), Action: showCurve,
			},
			rowsCommand("prices", func(d *results.Dir) iter.Seq2[[]string, error] { return results.Texts(d.Prices(nil)) }),
			rowsCommand("jobs", func(d *results.Dir) iter.Seq2[[]string, error] { return results.Texts(d.Jobs(nil, nil)) }),
		},
	}
}

// showTables prints all tables, findings and notes of results.
func showTables(c *cli.Context) error {
	dir, err := results.Open(c.Args().First())
	if err != nil {
		return err
	}
	if dir.Manifest.Format == results.Format {
		s, err := experiments.Studied(dir, stands)
		if err != nil {
			return err
		}
		return show(c, s.Document(dir.Path), nil)
	}
	d, err := experiments.Drawn(dir) // older results keep no notes
	if err != nil {
		return err
	}
	return show(c, d, nil)
}

// showCurve draws the curve of results in the terminal.
func showCurve(c *cli.Context) error {
	dir, err := results.Open(c.Args().First())
	if err != nil {
		return err
	}
	d, err := experiments.Plotted(dir, experiments.Ask{})
	if err != nil {
		return err
	}
	return show(c, d, nil, d.Figures...)
}

// rowsCommand prints the first rows of a table of results.
func rowsCommand(table string, rows func(*results.Dir) iter.Seq2[[]string, error]) *cli.Command {
	return &cli.Command{
		Name: table, Usage: "print the first rows of the table of " + table, ArgsUsage: "RESULTS",
		Description: "   bourse show " + table + " results/paper --rows 50\n   bourse show " + table + " results/paper --csv > " + table + ".csv",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "rows", Value: 20, Usage: "print `N` rows; 0 prints all"},
			&cli.BoolFlag{Name: "csv", Usage: "print all rows as CSV, for programs"},
		},
		Action: func(c *cli.Context) error {
			if c.Int("rows") < 0 {
				return usagef("--rows: found %d, want 0 or more", c.Int("rows"))
			}
			dir, err := results.Open(c.Args().First())
			if err != nil {
				return err
			}
			if dir.File(table) == "" {
				return usagef("%s: the run kept no table of %s: --tables keeps it", dir.Path, table)
			}
			if c.Bool("csv") {
				w := csv.NewWriter(c.App.Writer)
				for row, err := range rows(dir) {
					if err != nil {
						return err
					}
					w.Write(row) // Flush returns its error
				}
				w.Flush()
				return w.Error()
			}
			return printRows(c, rows(dir))
		},
	}
}

// printRows prints the first rows as a table, and says how many there are.
func printRows(c *cli.Context, rows iter.Seq2[[]string, error]) error {
	t := report.Table{Left: 2} // configuration and policy
	n, most := 0, c.Int("rows")
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
		t.Note = "The first " + strconv.Itoa(len(t.Rows)) + " of " + strconv.Itoa(n) + " rows; --rows 0 prints all, --csv for programs."
	}
	return show(c, report.Document{Tables: []report.Table{t}}, nil)
}
