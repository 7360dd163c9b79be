package main

import (
	"io"

	"bourse/bank"
	"bourse/bank/export"
	"bourse/bank/place"
	"bourse/experiments/statement"

	"github.com/urfave/cli/v2"
)

var statementCommand = command(`statement DIR
print a user's statement, contract by contract

The statement lists the opening balance, each contract, other transfers and the closing balance. For
each contract, it states the budget, the decision and its numbers, the charges of each host, the
refund, the verdict and any penalty. A contract belongs to the account that paid its budget. The
statement omits rejected requests, which transfer no money and name no account; 'ledger show' lists
them.

   bourse ledger statement results/paper/ledger/pareto-high/be/0 --user 2
   bourse ledger statement books --user user:ann --since 1000 --json`, statementAction)

type statementOptions struct {
	User                            string `doc:"print the statement of account {U}, such as user:7 (or 7, for short)"`
	Since                           int64  `doc:"begin after entry {N}, and omit contracts that had ended by then"`
	jsonOption[statement.Statement] `yaml:",inline"`
}

func statementAction(c *cli.Context, o *statementOptions) error {
	user := o.User
	if user == "" {
		return usagef("%s: --user is missing", commandName(c))
	}
	if '0' <= user[0] && user[0] <= '9' {
		user = "user:" + user
	}
	if err := bank.CheckName(user); err != nil {
		return usagef("--user: %w", err)
	}
	since := o.Since
	if since < 0 {
		return usagef("--since: found %d, want a positive entry number", since)
	}
	var s *statement.Statement
	err := readLedger(c, func(_ io.Writer, entries export.Entries) (err error) {
		s, err = statement.Of(user, since, entries)
		return err
	})
	if err != nil {
		return err
	}
	if s == nil {
		return usagef("%s: no entry concerns %s", place.At(c.Args().First()), user)
	}
	return show(c, s.Document(), nil)
}
