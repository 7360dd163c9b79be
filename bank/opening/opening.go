// Package opening reads opening balances: what accounts are to hold when a bank
// begins, written by people, spreadsheets and other programs.
//
// It does not know ledgers.
//
// # Format
//
// A line an account, in one of these forms:
//
//	user:ann 69.50               what 'bank balance' prints
//	user:ann,69.50               CSV; quoted or not, with or without "account,amount" above
//	            69.50 USD  user:ann   what 'hledger balance --flat -N' and 'ledger balance --flat --no-total' print
//
// Amounts are what [bank.Parse] reads, and may be followed by USD. Blank lines, and
// those that begin with # or ;, mean nothing. Nothing is guessed: a line that is
// anything else, an account twice, an escrow, the mint, or an amount below zero is
// an error, and so is a file of no money.
package opening

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"bourse/bank"
)

const maxLine = 4096 // bytes

// Read returns the entry that issues what in says, and the sum of it. The error
// names name and the first bad line, and says how many more there are.
func Read(in io.Reader, name string) (bank.Entry, bank.Amount, error) {
	e := bank.Entry{Kind: bank.Issue, Contract: bank.NoContract}
	b := balances{lines: make(map[string]int)}
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, maxLine)
	for n := 1; scan.Scan(); n++ {
		m, err := b.line(scan.Text(), n)
		if err != nil && b.bad == nil {
			b.bad = fmt.Errorf("%s:%d: %w", name, n, err)
		} else if err != nil {
			b.more++
		}
		if m.Amount.Sign() > 0 {
			e.Moves = append(e.Moves, m)
		}
	}
	switch err := scan.Err(); {
	case err == bufio.ErrTooLong:
		return e, b.sum, fmt.Errorf("%s: found a line of more than %d bytes, want an account and an amount", name, maxLine)
	case err != nil:
		return e, b.sum, fmt.Errorf("%s: %w", name, err)
	case b.bad != nil && b.more > 0:
		return e, b.sum, fmt.Errorf("%w (and %d more lines)", b.bad, b.more)
	case b.bad != nil:
		return e, b.sum, b.bad
	case len(e.Moves) == 0:
		return e, b.sum, fmt.Errorf("%s: found no account that holds anything, want at least one", name)
	case len(e.Moves) > bank.MaxMoves:
		return e, b.sum, fmt.Errorf("%s: found %d accounts, want at most %d, which are booked together", name, len(e.Moves), bank.MaxMoves)
	}
	return e, b.sum, nil
}

// balances are what lines said so far.
type balances struct {
	lines map[string]int // of accounts
	sum   bank.Amount
	bad   error // the first
	more  int   // after it
}

// line reads line n. Of one without an account the amount is zero.
func (b *balances) line(s string, n int) (bank.Move, error) {
	s = strings.TrimSpace(s)
	if s == "" || s[0] == '#' || s[0] == ';' {
		return bank.Move{}, nil
	}
	account, amount, err := part(s)
	if err != nil || len(b.lines) == 0 && strings.EqualFold(account, "account") && !strings.ContainsAny(amount, "0123456789") {
		return bank.Move{}, err
	}
	if err := bank.CheckName(account); err != nil {
		return bank.Move{}, err
	}
	if account == "mint" || bank.IsEscrow(account) {
		return bank.Move{}, fmt.Errorf("found %s, want the account of somebody, such as user:7", account)
	}
	if was, ok := b.lines[account]; ok {
		return bank.Move{}, fmt.Errorf("found %s again, which is on line %d", account, was)
	}
	b.lines[account] = n
	a, err := bank.Parse(amount)
	if err != nil {
		return bank.Move{}, err
	}
	if a.Sign() < 0 {
		return bank.Move{}, fmt.Errorf("found %s for %s, want no less than 0", amount, account)
	}
	if b.sum, err = b.sum.Add(a); err != nil {
		return bank.Move{}, err
	}
	return bank.Move{From: "mint", To: account, Amount: a}, nil
}

// part finds account and amount in a line.
func part(s string) (account, amount string, err error) {
	f := strings.Fields(s)
	if strings.ContainsAny(s, `,"`) {
		if f, err = csv.NewReader(strings.NewReader(s)).Read(); err != nil {
			return "", "", fmt.Errorf("found %.80q, want account,amount", s)
		}
		for i := range f {
			f[i] = strings.TrimSpace(strings.TrimSuffix(f[i], " USD"))
		}
	}
	switch {
	case len(f) == 2:
		return f[0], f[1], nil
	case len(f) == 3 && f[1] == "USD":
		return f[2], f[0], nil
	case len(f) == 3 && f[2] == "USD":
		return f[0], f[1], nil
	}
	return "", "", fmt.Errorf("found %.80q, want an account and an amount", s)
}
