package main

import (
	"io"
	"slices"

	"bourse/bank"
	"bourse/bank/export"
	"bourse/bank/place"
	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
	"golang.org/x/mod/sumdb/tlog"
)

var showCommand = command(`show DIR
print the entries of a ledger

   bourse ledger show results/paper/ledger/pareto-high/cac/0 --contract 7
   bourse ledger show books --account user:ann --json`, func(c *cli.Context, o *showOptions) error {
	filter := export.Filter{Account: o.Account}
	if c.IsSet("contract") {
		contract := o.Contract
		filter.Contract = &contract
	}
	return readLedger(c, func(w io.Writer, entries export.Entries) error {
		format := "text"
		if o.JSON {
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
})

type showOptions struct {
	Account     string `doc:"print only entries that transfer money to or from account {A}, such as user:7"`
	Contract    int64  `default:"-1" shown:"all" doc:"print entries of contract {C}"`
	movesOption `yaml:",inline"`
}

// nothing returns an error if the filter names a contract or an account without entries in the
// ledger.
func nothing(c *cli.Context, f export.Filter) error {
	in := place.At(c.Args().First()).String()
	switch {
	case f.Contract != nil && f.Account != "":
		return usagef("%s: no entry of contract %d transfers money of account %s", in, *f.Contract, f.Account)
	case f.Contract != nil:
		return usagef("%s: the ledger contains no contract %d", in, *f.Contract)
	case f.Account != "":
		return usagef("%s: no entry transfers money of account %s", in, f.Account)
	}
	return nil
}

var exportCommand = command(`export DIR
export a ledger for other programs

   bourse ledger export DIR --format hledger > run.journal && hledger -f run.journal check
   bourse ledger export DIR --format beancount > run.beancount && bean-check run.beancount
   bourse ledger export DIR --format hledger --aggregate day > run.journal`, func(c *cli.Context, o *exportOptions) error {
	format := o.Format
	if !slices.Contains(export.Formats(), format) {
		return usagef("--format: %s", scenario.Unknown(format, export.Formats()))
	}
	period := o.Aggregate
	if period != "" && period != "day" {
		return usagef("--aggregate: found %q, want day", period)
	}
	return readLedger(c, func(w io.Writer, entries export.Entries) error {
		if period == "day" {
			entries = export.Daily(entries)
		}
		return export.Write(w, format, entries, export.Options{})
	})
})

type exportOptions struct {
	Format    string `of:"ledger" doc:"write the ledger as {FORMAT}"`
	Aggregate string `doc:"add up the entries of each kind per {PERIOD}: day"`
}
