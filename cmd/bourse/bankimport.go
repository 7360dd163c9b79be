package main

import (
	"bourse/bank"
	"bourse/bank/opening"
	"bourse/bank/store"
	"bourse/experiments/misuse"

	"github.com/urfave/cli/v2"
)

var importCommand = command(`import DIR FILE
issue opening balances from a file, and print the receipt

A line an account: FILE contains lines ACCOUNT AMOUNT, as printed by 'bank balance', or the same
data as CSV. It can also be the output of 'hledger balance --flat -N not:mint', or a beancount file.
The beancount file must come from 'ledger export' or contain only balance directives. If FILE is -,
the command reads standard input. The command checks every line before it books anything. It books
the whole file as one entry. If you repeat the command with the same id, the file is not booked
again.

   bourse bank balance books > opening
   bourse bank init anew && bourse bank import anew opening --id opening`, func(c *cli.Context, _ *importOptions) error {
	id, err := requestID(c)
	if err != nil {
		return err
	}
	name := c.Args().Get(1)
	in, err := open(c, name)
	if err != nil {
		return misuse.Of(err)
	}
	defer in.Close()
	e, sum, err := opening.Read(in, name)
	if err != nil {
		return misuse.Of(err)
	}
	e.ID, e.Time = id, wall()
	return withBank(c, func(b banked) error { return issue(c, b, e, sum) })
})

type importOptions struct {
	idOption                  `yaml:",inline"`
	jsonOption[store.Outcome] `yaml:",inline"`
	Quiet                     bool `alias:"q" doc:"do not print the issued amount"`
	pinOption                 `yaml:",inline"`
}

// issue books e, an entry that issues sum, and reports the entry.
func issue(c *cli.Context, b banked, e bank.Entry, sum bank.Amount) error {
	r, err := b.Do(c.Context, e)
	if err != nil {
		return err
	}
	if err := answer(c, b, e.ID, r); err != nil {
		return err
	}
	note(c, "issued %v to %d accounts", sum, len(e.Moves))
	return nil
}
