package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"bourse/bank"
	"bourse/bank/export"
	"bourse/bank/place"
	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
	"golang.org/x/mod/sumdb/tlog"
)

func showCommand() *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "print the entries of a ledger",
		ArgsUsage: "DIR",
		Description: `   bourse ledger show results/paper/ledger/pareto-high/cac/0 --contract 7
   bourse ledger show books --account user:ann --json`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "account", Usage: "entries that move money of account `A`, such as user:7"},
			&cli.Int64Flag{Name: "contract", Value: -1, DefaultText: "all", Usage: "entries of contract `C`"},
			movesFlag(),
		},
		Action: func(c *cli.Context) error {
			filter := export.Filter{Account: c.String("account")}
			if c.IsSet("contract") {
				contract := c.Int64("contract")
				filter.Contract = &contract
			}
			return readLedger(c, func(w io.Writer, entries export.Entries) error {
				format := "text"
				if c.Bool("json") {
					format = "json"
				}
				found := false
				selected := filter.Select(entries)
				err := export.Write(w, format, func(yield func(*bank.Entry, tlog.Hash) bool) {
					for e, hash := range selected {
						if found = true; !yield(e, hash) {
							return
						}
					}
				}, export.Options{})
				if err != nil || found {
					return err
				}
				return nothing(c, filter)
			})
		},
	}
}

// nothing says that a ledger has no entry that was asked for, if any was.
func nothing(c *cli.Context, f export.Filter) error {
	in := place.At(c.Args().First()).String()
	switch {
	case f.Contract != nil && f.Account != "":
		return fmt.Errorf("%s: no entry of contract %d moves money of account %s", in, *f.Contract, f.Account)
	case f.Contract != nil:
		return fmt.Errorf("%s: there is no contract %d", in, *f.Contract)
	case f.Account != "":
		return fmt.Errorf("%s: no entry moves money of account %s", in, f.Account)
	}
	return nil
}

func exportCommand() *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "write a ledger for other programs",
		ArgsUsage: "DIR",
		Description: `   bourse ledger export DIR --format hledger > run.journal && hledger -f run.journal check
   bourse ledger export DIR --format beancount > run.beancount && bean-check run.beancount
   bourse ledger export DIR --format hledger --aggregate day > run.journal`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Usage: "write it as `FORMAT`: " + strings.Join(export.Formats(), ", ")},
			&cli.StringFlag{Name: "aggregate", Usage: "sum up what is of one `PERIOD` and kind, for large ledgers: day"},
		},
		Action: func(c *cli.Context) error {
			format := c.String("format")
			if !slices.Contains(export.Formats(), format) {
				return usagef("--format: %s", scenario.Unknown(format, export.Formats()))
			}
			period := c.String("aggregate")
			if period != "" && period != "day" {
				return usagef("--aggregate: found %q, want day", period)
			}
			return readLedger(c, func(w io.Writer, entries export.Entries) error {
				if period == "day" {
					entries = export.Daily(entries)
				}
				return export.Write(w, format, entries, export.Options{})
			})
		},
	}
}
