package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"bourse/bank/export"
	"bourse/bank/keys"
	"bourse/bank/owners"

	"github.com/urfave/cli/v2"
)

// An ownership describes the owners of a bank and their rights.
type ownership struct {
	Mode     string           `json:"mode" doc:"open (anyone who can write to the bank may transfer any money) or owned (only signed orders transfer money)"`
	Ledger   string           `json:"ledger,omitempty" doc:"id of the ledger, which every order must state"`
	Accounts []owners.Account `json:"accounts" doc:"accounts with a key or a right, sorted by name; empty for an open bank"`
}

var rightsCommand = command(`rights DIR [ACCOUNT]
print keys and rights of accounts

   bourse bank rights books
   bourse bank rights books bursar`, func(c *cli.Context, _ *rightsOptions) error {
	asked := c.Args().Get(1)
	return printOwnership(c, func(a owners.Account) bool { return asked == "" || a.Account == asked })
})

type rightsOptions struct {
	jsonOption[ownership] `yaml:",inline"`
}

var whoamiCommand = command(`whoami DIR
print the accounts and rights of a key

   bourse bank whoami books --key ann`, func(c *cli.Context, _ *whoamiOptions) error {
	private, err := privateKey(c, "key")
	if err != nil {
		return err
	}
	public, err := keys.Of(private)
	if err != nil {
		return err
	}
	return printOwnership(c, func(a owners.Account) bool { return a.Key == public })
})

type whoamiOptions struct {
	Key                   string `doc:"print the accounts of the private key in {FILE}"`
	jsonOption[ownership] `yaml:",inline"`
}

// printOwnership prints the keys and rights of the selected accounts.
func printOwnership(c *cli.Context, wanted func(owners.Account) bool) error {
	return readLedger(c, func(w io.Writer, entries export.Entries) error {
		var o owners.Owners
		var last float64
		for e := range entries {
			o.Book(e)
			last = e.Time
		}
		all := slices.DeleteFunc(o.Accounts(max(last, wall())), func(a owners.Account) bool { return !wanted(a) })
		if c.Bool("json") {
			return writeJSON(c, w, ownership{o.Mode(), o.Ledger(), all})
		}
		fmt.Fprintln(w, strings.TrimSpace(o.Mode()+" "+o.Ledger()))
		for _, a := range all {
			fmt.Fprintf(w, "%s %s\n", a.Account, cmp.Or(a.Key, "-"))
			for _, right := range a.Rights {
				fmt.Fprintf(w, "  %s\n", right)
			}
		}
		return nil
	})
}
