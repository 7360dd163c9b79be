// Package opening reads the opening balances of a bank, as written by people, spreadsheets and
// other programs.
//
// The package is independent of ledgers.
//
// # Format
//
// A file has one line per account, in one of these forms:
//
//	user:ann 69.50               what 'bank balance' prints
//	user:ann,69.50               CSV; quoted or not, with or without "account,amount" above
//	            69.50 USD  user:ann   what 'hledger balance --flat -N' and 'ledger balance --flat --no-total' print
//
// Alternatively, the whole file is in beancount format, as written by exports or by people:
//
//	2026-01-01 balance Assets:User:Ann 69.50 USD
//
//	2026-01-01 * "opening"
//	  Assets:User:Ann       69.50 USD
//	  Equity:Opening
//
// Transactions, in order of date, add up to the balances. A balance directive after
// transactions must match the sum at the start of its day. Without transactions, the balance
// directives are the balances. Assets:User:Ann is user:ann. Equity is the source of the money.
// Pad directives, other currencies and other kinds of accounts are errors.
//
// Amounts have the syntax of [bank.Parse] and may be followed by USD. Spaces and tabs count as
// blanks. Other characters that some programs treat as spaces or line ends are errors. Blank
// lines and lines that start with # or ; are ignored. All other lines are errors. A duplicate
// account, an escrow, the mint, a negative amount, and a file without money are errors, too.
package opening

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"bourse/bank"
)

const maxLine = 1 << 16 // maximum length of a line, in bytes

// Read returns the entry that issues the balances in the input, and their sum. The error
// contains name, the first bad line, and the number of further bad lines.
func Read(in io.Reader, name string) (bank.Entry, bank.Amount, error) {
	e := bank.Entry{Kind: bank.Issue, Contract: bank.NoContract}
	var sum bank.Amount
	var f format
	var bad error // first error
	more := 0     // number of further errors
	note := func(n int, err error) {
		if err != nil && bad == nil {
			bad = fmt.Errorf("%s:%d: %w", name, n, err)
		} else if err != nil {
			more++
		}
	}
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, maxLine)
	for n := 1; scan.Scan(); n++ {
		s := scan.Text()
		if i := strings.IndexFunc(s, strange); i >= 0 {
			note(n, fmt.Errorf("found %.20q, want text without this character", s[i:]))
			continue
		}
		if blank(s) {
			continue
		}
		if f == nil && isBeancount(s) {
			f = newBeancount()
		} else if f == nil {
			f = &balances{lines: make(map[string]int)}
		}
		note(n, f.line(s, n))
	}
	if f != nil && bad == nil && scan.Err() == nil {
		moves, n, err := f.end()
		note(n, err)
		for _, m := range moves {
			if sum, err = sum.Add(m.Amount); err != nil {
				note(f.lineOf(m.To), err)
				break
			}
		}
		e.Moves = moves
	}
	switch err := scan.Err(); {
	case err == bufio.ErrTooLong:
		return e, sum, fmt.Errorf("%s: found a line of more than %d bytes, want an account and an amount", name, maxLine)
	case err != nil:
		return e, sum, fmt.Errorf("%s: %w", name, err)
	case bad != nil && more > 0:
		return e, sum, fmt.Errorf("%w (and %d more lines)", bad, more)
	case bad != nil:
		return e, sum, bad
	case len(e.Moves) == 0:
		return e, sum, fmt.Errorf("%s: found no account with a balance, want at least one", name)
	case len(e.Moves) > bank.MaxMoves:
		return e, sum, fmt.Errorf("%s: found %d accounts, want at most %d (all are booked in one entry)", name, len(e.Moves), bank.MaxMoves)
	}
	return e, sum, nil
}

// A format parses a file line by line.
type format interface {
	line(s string, n int) error

	// end returns the balances, or an error and its line.
	end() (moves []bank.Move, n int, err error)

	// lineOf returns the line of an account.
	lineOf(account string) int
}

// strange reports whether other programs may ignore a character or treat it as a space or a
// line end.
func strange(r rune) bool {
	return r != '\t' && r != ' ' && (unicode.IsSpace(r) || unicode.IsControl(r)) || r == utf8.RuneError || r == '\ufeff' || r == '\u2028' || r == '\u2029'
}

// blank reports whether a line is ignored.
func blank(s string) bool {
	s = strings.TrimSpace(s)
	return s == "" || s[0] == '#' || s[0] == ';'
}

// mayHold returns an error if an account cannot have the opening balance a.
func mayHold(account string, a bank.Amount) error {
	if err := bank.CheckName(account); err != nil {
		return err
	}
	if account == "mint" || bank.IsEscrow(account) {
		return fmt.Errorf("found %s, want a personal account such as user:7", account)
	}
	if a.Sign() < 0 {
		return fmt.Errorf("found %v for %s, want at least 0", a, account)
	}
	return nil
}

// A balances is a file with an account and an amount per line.
type balances struct {
	lines map[string]int // line number of each account
	moves []bank.Move
}

func (b *balances) line(s string, n int) error {
	account, amount, err := part(strings.TrimSpace(s))
	if err != nil || len(b.lines) == 0 && strings.EqualFold(account, "account") && !strings.ContainsAny(amount, "0123456789") {
		return err
	}
	if err := mayHold(account, bank.Amount{}); err != nil {
		return err
	}
	if was, ok := b.lines[account]; ok {
		return fmt.Errorf("found %s, which is also on line %d, want it once", account, was)
	}
	b.lines[account] = n
	a, err := bank.Parse(amount)
	if err == nil && a.Sign() < 0 {
		return fmt.Errorf("found %s for %s, want at least 0", amount, account)
	}
	if err == nil && a.Sign() > 0 {
		b.moves = append(b.moves, bank.Move{From: "mint", To: account, Amount: a})
	}
	return err
}

func (b *balances) end() ([]bank.Move, int, error) { return b.moves, 0, nil }

func (b *balances) lineOf(account string) int { return b.lines[account] }

// part splits a line into account and amount.
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
