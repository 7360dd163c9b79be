package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"bourse/bank"
)

// Statement writes to w what the owner of an account would want to read: each
// entry that concerns the account or one of its contracts, what it took or
// brought, what was then left, and what the entry notes, such as price, share,
// work and verdict. A contract is the account's if its budget came from there.
func Statement(w io.Writer, entries Entries, account string) error {
	p := &printer{Writer: bufio.NewWriter(w), balances: make(map[string]bank.Amount)}
	p.printf("%-10s %14s  %-9s %20s %20s  %s\n", "entry", "seconds", "kind", "amount", "balance", "note")
	owned := make(map[int64]bool)
	for e := range entries {
		before := p.balances[account]
		touched := owned[e.Contract]
		for _, m := range e.Moves {
			touched = touched || m.From == account || m.To == account
			if e.Kind == bank.Admit && m.From == account {
				owned[e.Contract] = true
			}
			p.move(m)
		}
		if !touched {
			continue
		}
		after := p.balances[account]
		change, err := after.Sub(before)
		if err != nil {
			return fmt.Errorf("statement of %s: %w", account, err)
		}
		about := ""
		if e.Contract != bank.NoContract {
			about = fmt.Sprintf("contract %d ", e.Contract)
		}
		line := fmt.Sprintf("%-10d %14.3f  %-9v %20v %20v  %s%s", e.Seq, e.Time, e.Kind, change, after, about, printable(e.Note))
		p.printf("%s\n", strings.TrimRight(line, " "))
		for _, m := range e.Moves {
			if m.From != account && m.To != account {
				p.printf("%37s%20v %20s  to %s\n", "", m.Amount, "", m.To)
			}
		}
	}
	p.printf("%-10s %14s  %-9s %20s %20v\n", "", "", "", "", p.balances[account])
	if err := p.Flush(); p.err == nil {
		p.err = err
	}
	return p.err
}
