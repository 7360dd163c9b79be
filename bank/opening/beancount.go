package opening

import (
	"fmt"
	"regexp"
	"strings"

	"bourse/bank"
)

var (
	dated    = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[ \t]+[^ \t0-9-]`)
	metadata = regexp.MustCompile(`^[ \t]+[a-z][a-zA-Z0-9_-]*:`)
	quoted   = regexp.MustCompile(`"(\\.|[^"\\])*"`)
)

// isBeancount reports whether s, the first significant line of a file, is in beancount format.
func isBeancount(s string) bool { return dated.MatchString(s) || strings.HasPrefix(s, `option "`) }

// A beancount is the state of parsing a beancount file, which has either transactions that add
// up to balances, or only balances.
type beancount struct {
	date     string
	accounts map[string]*holding
	order    []*holding

	balances    int // number of balance directives before the first transaction
	transaction struct {
		line   int // number of the current transaction's first line; 0 outside of a transaction
		rest   bank.Amount
		elided *holding // account whose posting has no amount
	}
	transactions int
}

// A holding is the balance of an account.
type holding struct {
	name   string // name of the account; empty for accounts outside the bank, such as equity
	amount bank.Amount
	before bank.Amount // balance before the day of the last posting
	date   string      // date of the last posting
	line   int         // number of the last line about the account
}

func newBeancount() *beancount { return &beancount{accounts: make(map[string]*holding)} }

// line parses line n.
func (b *beancount) line(s string, n int) error {
	bare := quoted.ReplaceAllString(s, `""`)
	bare, _, _ = strings.Cut(bare, ";")
	inside := strings.HasPrefix(bare, " ") || strings.HasPrefix(bare, "\t")
	f := strings.Fields(bare)
	switch {
	case len(f) == 0:
		return nil
	case inside && metadata.MatchString(bare):
		return nil
	case inside:
		return b.posting(f, n)
	}
	if err := b.finish(); err != nil {
		return err
	}
	if f[0] == "option" {
		return nil
	}
	if !dated.MatchString(bare) {
		return fmt.Errorf("found %.80q, want a date and open, balance, or a transaction", s)
	}
	if f[0] < b.date {
		return fmt.Errorf("found %s after %s, want lines sorted by date", f[0], b.date)
	}
	b.date = f[0]
	switch f[1] {
	case "open", "close", "commodity":
		return nil
	case "balance":
		return b.balance(f[2:], n)
	case "*", "!", "txn":
		if b.balances > 0 && b.transactions == 0 {
			return fmt.Errorf("found a transaction after a balance without transactions, want either balances or transactions")
		}
		b.transactions++
		b.transaction.line = n
		return nil
	}
	return fmt.Errorf("found %.80q, want open, close, commodity, balance, or a transaction", f[1])
}

// finish ends an open transaction, whose postings must add up to zero.
func (b *beancount) finish() (err error) {
	t := b.transaction
	b.transaction.line, b.transaction.rest, b.transaction.elided = 0, bank.Amount{}, nil
	if t.line == 0 || t.rest.Sign() == 0 {
		return nil
	}
	if t.elided == nil {
		return fmt.Errorf("found postings that sum to %v in the transaction of line %d, want 0", t.rest, t.line)
	}
	t.elided.amount, err = t.elided.amount.Sub(t.rest)
	return err
}

// posting parses a line of a transaction: an account and an amount. One posting of a
// transaction may omit the amount.
func (b *beancount) posting(f []string, n int) error {
	if b.transaction.line == 0 || len(f) != 1 && (len(f) != 3 || f[2] != "USD") {
		return fmt.Errorf("found %.80q, want a posting of a transaction: an account, an amount and USD", strings.Join(f, " "))
	}
	h, err := b.holding(f[0], n)
	if err != nil {
		return err
	}
	if h.date != b.date {
		h.date, h.before = b.date, h.amount
	}
	if len(f) == 1 {
		if b.transaction.elided != nil {
			return fmt.Errorf("found a second posting without an amount (%s), want at most one per transaction", f[0])
		}
		b.transaction.elided = h
		return nil
	}
	a, err := bank.Parse(f[1])
	if err != nil {
		return err
	}
	if h.amount, err = h.amount.Add(a); err != nil {
		return err
	}
	b.transaction.rest, err = b.transaction.rest.Add(a)
	return err
}

// balance parses "Account Amount ~ Tolerance USD". After transactions, it must be the
// account's balance at the start of the day. Without transactions, it is the opening balance.
func (b *beancount) balance(f []string, n int) error {
	if len(f) == 3 {
		f = []string{f[0], f[1], "~", "0", f[2]}
	}
	if len(f) != 5 || f[2] != "~" || f[4] != "USD" {
		return fmt.Errorf("found balance %.80q, want an account, an amount and USD", strings.Join(f, " "))
	}
	a, err := bank.Parse(f[1])
	if err != nil {
		return err
	}
	tolerance, err := bank.Parse(f[3])
	if err != nil {
		return err
	}
	was := b.accounts[f[0]]
	h, err := b.holding(f[0], n)
	if err != nil {
		return err
	}
	b.balances++
	if b.transactions == 0 {
		if was != nil {
			return fmt.Errorf("found %s, which is also on line %d, want it once", f[0], was.line)
		}
		h.amount = a
		return nil
	}
	held := h.amount
	if h.date == b.date {
		held = h.before
	}
	if d, err := held.Sub(a); err != nil || d.Cmp(tolerance) > 0 || bank.Micros(-d.Micros()).Cmp(tolerance) > 0 {
		return fmt.Errorf("found balance %v of %s, want %v, the sum of its postings", a, f[0], held)
	}
	return nil
}

// holding returns the holding of an account, given the name of the account in beancount.
func (b *beancount) holding(account string, n int) (*holding, error) {
	if h, ok := b.accounts[account]; ok {
		return h, nil
	}
	h := &holding{line: n}
	if !strings.HasPrefix(account, "Equity:") {
		name, ok := fromBeancount(account)
		if !ok {
			return nil, fmt.Errorf("found account %.80q, want an account such as Assets:User:Ann, or one under Equity", account)
		}
		if err := bank.CheckName(name); err != nil {
			return nil, err
		}
		h.name = name
	}
	b.accounts[account] = h
	b.order = append(b.order, h)
	return h, nil
}

// fromBeancount converts a name as written by package export to an account name:
// Assets:User:A-cnn becomes user:Ann, and Assets:User:Ann becomes user:ann.
func fromBeancount(account string) (string, bool) {
	rest, ok := strings.CutPrefix(account, "Assets:")
	var b strings.Builder
	for i, part := range strings.Split(rest, ":") {
		if i > 0 {
			b.WriteByte(':')
		}
		if part == "" {
			return "", false
		}
		if c := part[0]; 'A' <= c && c <= 'Z' {
			if part = part[1:]; strings.HasPrefix(part, "-c") {
				part = part[2:]
				b.WriteByte(c)
			} else {
				b.WriteByte(c - 'A' + 'a')
			}
		}
		for part != "" {
			before, after, more := strings.Cut(part, "-")
			b.WriteString(before)
			if !more {
				break
			}
			if after == "" || !strings.Contains("-du", after[:1]) {
				return "", false
			}
			b.WriteByte("-._"[strings.Index("-du", after[:1])])
			part = after[1:]
		}
	}
	return b.String(), ok
}

// end returns the balances in order of their first lines, or an error and its line number.
func (b *beancount) end() (moves []bank.Move, n int, err error) {
	begun := b.transaction.line
	if err := b.finish(); err != nil {
		return nil, begun, err
	}
	names := make(map[string]int)
	for _, h := range b.order {
		if h.name == "" || h.amount.Sign() == 0 {
			continue
		}
		if err := mayHold(h.name, h.amount); err != nil {
			return nil, h.line, err
		}
		if was, ok := names[h.name]; ok {
			return nil, h.line, fmt.Errorf("found %s, which is also on line %d, want it once", h.name, was)
		}
		names[h.name] = h.line
		moves = append(moves, bank.Move{From: "mint", To: h.name, Amount: h.amount})
	}
	return moves, 0, nil
}

func (b *beancount) lineOf(account string) int {
	for _, h := range b.order {
		if h.name == account {
			return h.line
		}
	}
	return 0
}
