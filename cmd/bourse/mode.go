package main

import (
	"io"

	"bourse/bank"
	"bourse/bank/export"
	"bourse/bank/owners"
	"bourse/bank/place"

	"github.com/urfave/cli/v2"
	"golang.org/x/mod/sumdb/tlog"
)

// noteMode prints who may move the money of the bank whose ledger has the given id. The id is
// empty for an open bank.
func noteMode(c *cli.Context, ledger string) {
	name := place.At(c.Args().First())
	if ledger != "" {
		note(c, "%s is owned: ledger %s", name, ledger)
	} else {
		note(c, "%s is open: anyone who can write to it may transfer any money", name)
	}
}

// readBankLedger passes the entries of the named bank to f and prints who may move the
// bank's money.
func readBankLedger(c *cli.Context, f func(io.Writer, *owners.Owners, export.Entries) error) error {
	var o owners.Owners
	err := readLedger(c, func(w io.Writer, entries export.Entries) error {
		o = owners.Owners{}
		return f(w, &o, owned(&o, entries))
	})
	if err == nil {
		noteMode(c, o.Ledger())
	}
	return err
}

// owned yields the entries and updates owners with each of them.
func owned(o *owners.Owners, entries export.Entries) export.Entries {
	return func(yield func(*bank.Entry, tlog.Hash) bool) {
		for e, hash := range entries {
			o.Book(e)
			if !yield(e, hash) {
				return
			}
		}
	}
}
