package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/export"
	"bourse/bank/owners"
	"bourse/bank/service"
	"bourse/experiments/audits"

	"github.com/urfave/cli/v2"
)

var balanceCommand = command(`balance DIR [ACCOUNT]
print balances

The command prints one line ACCOUNT AMOUNT for each account, including open escrows, in the order of
their first entries. The sum of the amounts is the total issued. If no entry names ACCOUNT, the
command fails. For a served bank, it prints 0 instead. The balance of the account mint is the
negative of the total issued.

   bourse bank balance books
   bourse bank balance books user:ann

For a served bank with owners, the command prints only the accounts that the holder of --key may
read:

   bourse bank balance https://127.0.0.1:8424 --key ann --pin sha256:5f7c…`, balanceAction)

type balanceOptions struct {
	Key                          string `doc:"read a served bank with the key in {FILE}"`
	pinOption                    `yaml:",inline"`
	jsonOption[[]export.Balance] `yaml:",inline"`
}

func balanceAction(c *cli.Context, _ *balanceOptions) error {
	asked := c.Args().Get(1)
	if c.NArg() == 2 {
		if err := bank.CheckName(asked); err != nil {
			return usagef("ACCOUNT: %w", err)
		}
	}
	if isServed(c.Args().First()) {
		return balanceThere(c, asked)
	}
	return readBankLedger(c, func(w io.Writer, o *owners.Owners, entries export.Entries) error {
		found, err := export.Balances(entries, asked)
		if err != nil {
			return err
		}
		if len(found) == 0 && o.Known(asked) { // the account is enrolled, but has no entries
			found = []export.Balance{{Account: asked}}
		}
		if len(found) == 0 && asked != "" {
			return usagef("ACCOUNT: found no entry that names %s; list the accounts with 'bourse bank balance %s'", asked, c.Args().First())
		}
		return printBalances(c, w, found)
	})
}

func printBalances(c *cli.Context, w io.Writer, found []export.Balance) error {
	if c.Bool("json") {
		return writeJSON(c, w, found)
	}
	for _, b := range found {
		fmt.Fprintln(w, b.Account, b.Amount)
	}
	return nil
}

// balanceThere prints the balance of one account or of all accounts in a served bank.
func balanceThere(c *cli.Context, account string) error {
	d := service.Dial{}
	if c.IsSet("key") {
		private, err := privateKey(c, "key")
		if err != nil {
			return err
		}
		t, err := dial(c, d)
		if err != nil {
			return err
		}
		defer t.Close()
		if d.Account, err = signer(c, t, private); err != nil {
			return err
		}
		d.Key = private
	}
	t, err := dial(c, d)
	if err != nil {
		return err
	}
	defer t.Close()
	ctx, cancel := context.WithTimeout(c.Context, away)
	defer cancel()
	var all []bank.Holding
	if account == "" {
		all, err = t.Balances(ctx)
	} else {
		all = []bank.Holding{{Name: account}}
		all[0].Balance, err = t.Balance(ctx, account)
	}
	if err != nil {
		return err
	}
	noteMode(c, t.Ledger())
	found := []export.Balance{}
	for _, h := range all {
		found = append(found, export.Balance{Account: h.Name, Amount: h.Balance})
	}
	return printBalances(c, c.App.Writer, found)
}

var logCommand = command(`log DIR
print a bank's entries as portable JSON lines

The command prints one line per transfer, with seq, time, id, kind, contract, from, to, micros
(millionths of a dollar), note and hash. The command 'bank verify' checks such a log without the
bank.

   bourse bank log books > books.log`, func(c *cli.Context, _ *none) error {
	return readBankLedger(c, func(w io.Writer, _ *owners.Owners, entries export.Entries) error {
		return export.Write(w, "json", entries, export.Options{})
	})
})

var verifyLogCommand = command(`verify FILE
check the output of 'bank log' without the bank

The command checks every hash and every transfer, using only the log. If FILE is -, the command
reads standard input. To find out whether entries at the end are missing, compare the log with a
receipt. The exit status is 3 if the check fails.

   bourse bank verify books.log
   bourse bank log books | bourse bank verify - --receipt "$(cat receipt)"`, verifyLogAction)

// bankCheckOptions are the flags of commands that check the entries of a bank.
type bankCheckOptions struct {
	receiptOption              `yaml:",inline"`
	keysOption                 `yaml:",inline"`
	jsonOption[[]audits.Value] `yaml:",inline"`
	amissOption                `yaml:",inline"`
}

// checks returns the options of an audit with these flags.
func checks(c *cli.Context) (o audit.Options, err error) {
	o.Now = wall()
	if o.Head, err = keptHead(c); err == nil {
		o.Keys, err = pinnedKeys(c)
	}
	return o, err
}

func verifyLogAction(c *cli.Context, _ *bankCheckOptions) error {
	opts, err := checks(c)
	if err != nil {
		return err
	}
	name := c.Args().First()
	in, err := open(c, name)
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := audits.Log(in, opts)
	if errors.Is(err, bufio.ErrTooLong) {
		return bad(c, name, errors.New("found a line longer than a megabyte, want one JSON object per line"))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return tellAudits(c, &audits.Found{Ledgers: []audits.Audited{{Ledger: name, Report: r}}})
}

var bankAuditCommand = command(`audit DIR
audit a bank's ledger from its files

The audit writes nothing and takes no lock, so it also works on a bank in use and on a read-only
copy. The command 'ledger audit' compares the ledger with a signed checkpoint. The exit status is 3
if the audit finds an error.

   bourse bank audit books
   bourse bank audit books --receipt "$(cat receipt)"`, func(c *cli.Context, _ *bankCheckOptions) error {
	opts, err := checks(c)
	if err != nil {
		return err
	}
	f, err := audits.At(c.Args().First(), opts.Head).Audit(opts, progress(c, "audit"))
	if err != nil {
		return err
	}
	return tellAudits(c, f)
})
