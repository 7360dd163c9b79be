package owners

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"bourse/bank"
)

// ledgerRow is the name of the row that contains the ledger's id, and countPrefix begins the
// names of contracts' rows. No account has such a name.
const (
	ledgerRow   = "/ledger"
	countPrefix = "/contract/"
)

func countRow(contract int64) string { return countPrefix + strconv.FormatInt(contract, 10) }

// Rows yields the rows that have changed since its last call, sorted by name, in the text
// format that [Owners.Restore] parses. The text is empty if the account no longer has a key or
// a right. Its lines are:
//
//	key PUBLIC            or - if it was revoked
//	invitation PUBLIC UNTIL
//	mint CAP PERIOD WITH WINDOW ISSUED, or CAP PERIOD WITH sliding AT=AMOUNT,…
//	settle NUMBER
//	payee MARKET          one per market
//	spend FOR MOST SPENT  one per account that may spend; then "refunds credited" if it regains them
//	read
//	audit
//
// The row of an open contract that counts under such a right is "OF FOR BUDGET".
func (o *Owners) Rows() iter.Seq2[string, string] {
	names := slices.Sorted(maps.Keys(o.changed))
	clear(o.changed)
	return func(yield func(string, string) bool) {
		for _, name := range names {
			text := o.ledger
			if c, is := o.counted[name]; is {
				text = fmt.Sprintf("%s %s %v", c.of, c.by, c.budget)
			} else if p := o.of(name); name != ledgerRow {
				text = p.String()
			}
			if !yield(name, text) {
				return
			}
		}
	}
}

// String returns the text of p's row.
func (p *party) String() string {
	var b strings.Builder
	if p.key != "" {
		fmt.Fprintf(&b, "key %s\n", p.key)
	}
	if p.invited != "" {
		fmt.Fprintf(&b, "invitation %s %s\n", p.invited, strconv.FormatFloat(p.until, 'g', -1, 64))
	}
	if m := p.mint; m != nil {
		fmt.Fprintf(&b, "mint %v %d %s %s\n", m.cap, m.period, cmp.Or(m.with, revoked), m.state())
	}
	if p.settle >= 0 {
		fmt.Fprintf(&b, "settle %d\n", p.settle)
	}
	for _, market := range slices.Sorted(maps.Keys(p.payee)) {
		fmt.Fprintf(&b, "payee %s\n", market)
	}
	for _, by := range slices.Sorted(maps.Keys(p.spends)) {
		fmt.Fprintf(&b, "spend %s %v %v%s\n", by, p.spends[by].most, p.spends[by].spent, p.spends[by].refunds)
	}
	if p.read {
		b.WriteString("read\n")
	}
	if p.audit {
		b.WriteString("audit\n")
	}
	return b.String()
}

// Restore adds a row to o. All rows must be restored before o is used.
func (o *Owners) Restore(name, text string) error {
	if o.parties == nil {
		o.begin()
	}
	if f := strings.Fields(text); strings.HasPrefix(name, countPrefix) && len(f) == 3 {
		budget, err := bank.Parse(f[2])
		o.counted[name] = count{f[0], f[1], budget}
		return err
	}
	if name == ledgerRow {
		o.ledger = text
		return nil
	}
	p := o.change(name)
	for line := range strings.Lines(text) {
		if err := p.restore(strings.Fields(line)); err != nil {
			return fmt.Errorf("owner %s: %q: %w", name, line, err)
		}
	}
	if p.settle >= 0 {
		o.markets[p.settle] = name
	}
	clear(o.changed)
	return nil
}

func (p *party) restore(f []string) (err error) {
	words := map[string]int{"key": 2, "invitation": 3, "mint": 6, "settle": 2, "payee": 2, "spend": 4, "read": 1, "audit": 1}
	refunds := ""
	if len(f) == 6 && f[0] == "spend" && " "+f[4]+" "+f[5] == credited {
		f, refunds = f[:4], credited
	}
	if len(f) == 0 || len(f) != words[f[0]] {
		return errors.New("want an owner row")
	}
	switch f[0] {
	case "key":
		p.key = f[1]
	case "invitation":
		p.invited = f[1]
		p.until, err = strconv.ParseFloat(f[2], 64)
	case "mint":
		p.mint, err = restoreMint(f[1:])
	case "settle":
		p.settle, err = strconv.ParseInt(f[1], 10, 64)
	case "payee":
		if p.payee == nil {
			p.payee = make(map[string]bool)
		}
		p.payee[f[1]] = true
	case "spend":
		right := &spending{refunds: refunds}
		var other error
		right.most, err = bank.Parse(f[2])
		right.spent, other = bank.Parse(f[3])
		err = errors.Join(err, other)
		if p.spends == nil {
			p.spends = make(map[string]*spending)
		}
		p.spends[f[1]] = right
	case "read":
		p.read = true
	case "audit":
		p.audit = true
	}
	return err
}

func restoreMint(f []string) (*mint, error) {
	m := &mint{}
	var errs [4]error
	m.cap, errs[0] = bank.Parse(f[0])
	m.period, errs[1] = strconv.ParseInt(f[1], 10, 64)
	if f[2] != revoked {
		m.with = f[2]
	}
	if m.sliding = f[3] == sliding; m.sliding {
		m.window, errs[2] = -1, m.restoreIssues(f[4])
		return m, errors.Join(errs[:]...)
	}
	m.window, errs[2] = strconv.ParseInt(f[3], 10, 64)
	m.issued, errs[3] = bank.Parse(f[4])
	return m, errors.Join(errs[:]...)
}

const (
	sliding  = "sliding"
	credited = " refunds credited"
)

// state returns the part of m's row that describes the amount issued.
func (m *mint) state() string {
	if !m.sliding {
		return fmt.Sprintf("%d %v", m.window, m.issued)
	}
	list := []string{}
	for _, i := range m.issues {
		list = append(list, fmt.Sprintf("%s=%v", strconv.FormatFloat(i.at, 'g', -1, 64), i.amount))
	}
	return sliding + " " + cmp.Or(strings.Join(list, ","), revoked)
}

// restoreIssues parses the issues of a sliding window as written by state.
func (m *mint) restoreIssues(text string) error {
	if text == revoked {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		at, amount, _ := strings.Cut(part, "=")
		var i issue
		var errs [2]error
		i.at, errs[0] = strconv.ParseFloat(at, 64)
		i.amount, errs[1] = bank.Parse(amount)
		if err := errors.Join(errs[:]...); err != nil {
			return err
		}
		m.issues = append(m.issues, i)
	}
	return nil
}
