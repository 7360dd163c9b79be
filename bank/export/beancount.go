package export

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"bourse/bank"

	"golang.org/x/mod/sumdb/tlog"
)

// A beancount is a writer that asserts the balance of each account once. The assertions are on
// the day after the last entry, because beancount asserts balances only at the start of a day.
type beancount struct {
	*printer
	last float64
}

func newBeancount(p *printer) writer {
	p.printf("option \"title\" \"bourse\"\noption \"operating_currency\" \"USD\"\n")
	return &beancount{printer: p}
}

func (b *beancount) entry(e *bank.Entry, _ tlog.Hash) {
	b.last = e.Time
	date := b.date(e.Time)
	b.printf("\n")
	for _, name := range b.fresh(e) {
		b.printf("%s open %s USD\n", date, beanAccount(name))
	}
	b.printf("%s * %q\n  seq: %d\n  time: %q\n", date, e.Kind, e.Seq, seconds(e.Time))
	if e.Contract != bank.NoContract {
		b.printf("  contract: %d\n", e.Contract)
	}
	if e.ID != "" {
		b.printf("  id: %s\n", strconv.Quote(escape(e.ID)))
	}
	if len(e.Note) > 0 {
		b.printf("  note: %s\n", strconv.Quote(escape(e.Note)))
	}
	for _, m := range e.Moves {
		b.move(m)
		b.printf("  %-40s %20s USD\n", beanAccount(m.From), "-"+m.Amount.String())
		b.printf("  %-40s %20s USD\n", beanAccount(m.To), m.Amount)
	}
}

func (b *beancount) end() {
	const day = 86400
	date := b.date(b.last + day)
	b.printf("\n")
	for _, name := range slices.Sorted(maps.Keys(b.balances)) {
		b.printf("%s balance %-40s %20s ~ 0 USD\n", date, beanAccount(name), b.balances[name])
	}
}

// beanAccount converts an account name to beancount's form: "Assets:User:7". In beancount, a
// part starts with a capital or a digit and contains no dot or underscore. A lower-case letter
// at the start of a part therefore becomes a capital, and a capital at this position is
// followed by "-c". A dash becomes "--", a dot "-d", and an underscore "-u". Different accounts
// have different names in this form.
func beanAccount(name string) string {
	var b strings.Builder
	b.WriteString("Assets")
	if name == "mint" {
		b.Reset()
		b.WriteString("Equity")
	}
	for part := range strings.SplitSeq(name, ":") {
		b.WriteByte(':')
		for i, c := range []byte(part) {
			switch {
			case c == '-':
				b.WriteString("--")
			case c == '.':
				b.WriteString("-d")
			case c == '_':
				b.WriteString("-u")
			case i == 0 && 'A' <= c && c <= 'Z':
				b.WriteByte(c)
				b.WriteString("-c")
			case i == 0 && 'a' <= c && c <= 'z':
				b.WriteByte(c - 'a' + 'A')
			default:
				b.WriteByte(c)
			}
		}
	}
	return b.String()
}
