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

// noteMode reports who may move the money of a bank whose ledger has the given id, or none.
func noteMode(c *cli.Context, ledger string) {
	name := place.At(c.Args().First())
	if ledger != "" {
		note(c, "%s is owned: ledger %s", name, ledger)
	} else {
		note(c, "%s is open: anyone who can write it may move any money", name)
	}
}

// readBankLedger passes the entries of the bank that c names to f, and reports who may move
// its money.
func readBankLedger(c *cli.Context, f func(io.Writer, export.Entries) error) error {
	var o owners.Owners
	err := readLedger(c, func(w io.Writer, entries export.Entries) error {
		o = owners.Owners{}
		return f(w, owned(&o, entries))
	})
	if err == nil {
		noteMode(c, o.Ledger())
	}
	return err
}

// owned yields entries, and updates owners with them.
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
