// Package export writes a ledger's entries for other programs and for people. The formats are
// plain-text accounting for hledger, ledger and beancount, CSV, JSON lines, and text.
//
// The package is independent of how entries are stored.
//
// # Dates
//
// Plain-text accounting requires dates, but a ledger contains seconds since the origin of the
// run. The origin has the date 2000-01-01 UTC unless [Options].Origin is set. The tag time
// contains the seconds. The order of entries is preserved.
//
// # Escaping
//
// Notes and ids can contain arbitrary bytes written by other parties. In tags, all characters
// except plain ones are %-escaped. CSV cells never start with = + - or @, and text contains no
// control characters.
package export

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"bourse/bank"

	"golang.org/x/mod/sumdb/tlog"
)

// Entries yields the entries of a ledger in order, with their hashes. An entry is valid until
// the next iteration.
type Entries = iter.Seq2[*bank.Entry, tlog.Hash]

// UpTo returns the first n entries.
func UpTo(entries Entries, n int64) Entries {
	return func(yield func(*bank.Entry, tlog.Hash) bool) {
		for e, hash := range entries {
			if e.Seq > n || !yield(e, hash) {
				return
			}
		}
	}
}

// Options configures the output.
type Options struct {
	Origin time.Time // date of time 0; the zero value means 2000-01-01 UTC
}

func (o Options) origin() time.Time {
	if o.Origin.IsZero() {
		return bank.Epoch
	}
	return o.Origin
}

// A writer writes entries one by one, and then the end of the output.
type writer interface {
	entry(e *bank.Entry, hash tlog.Hash)
	end()
}

var formats = map[string]func(*printer) writer{
	"beancount": newBeancount,
	"csv":       newCSV,
	"hledger":   newJournal,
	"json":      newJSON,
	"ledger":    newJournal,
	"text":      newText,
}

// Formats returns the names of the formats in alphabetical order.
func Formats() []string { return slices.Sorted(maps.Keys(formats)) }

// Write writes entries to w in the format with the given name.
func Write(w io.Writer, name string, entries Entries, opts Options) error {
	format, ok := formats[name]
	if !ok {
		return fmt.Errorf("export format %q: want one of %s", name, strings.Join(Formats(), ", "))
	}
	p := &printer{Writer: bufio.NewWriter(w), origin: opts.origin(), balances: make(map[string]bank.Amount)}
	out := format(p)
	for e, hash := range entries {
		out.entry(e, hash)
		if p.err != nil {
			return fmt.Errorf("export entry %d: %w", e.Seq, p.err)
		}
	}
	out.end()
	if err := p.Flush(); p.err == nil {
		p.err = err
	}
	return p.err
}

// A printer contains the common parts of the formats: buffered output that remembers its first
// error, dates, and running balances.
type printer struct {
	*bufio.Writer
	origin   time.Time
	balances map[string]bank.Amount
	err      error
}

func (p *printer) printf(format string, args ...any) {
	if _, err := fmt.Fprintf(p, format, args...); err != nil && p.err == nil {
		p.err = err
	}
}

// date returns the date of t seconds after the origin.
func (p *printer) date(t float64) string {
	const last = 253402300799 // end of the year 9999 in Unix time
	if s := float64(p.origin.Unix()) + t; s > last && p.err == nil {
		p.err = fmt.Errorf("%v s after %s is beyond the range of dates", t, p.origin.Format(time.DateOnly))
	}
	whole, part := math.Modf(t)
	return p.origin.Add(time.Duration(part*1e9)).AddDate(0, 0, int(whole/86400)).
		Add(time.Duration(math.Mod(whole, 86400)) * time.Second).Format(time.DateOnly)
}

// move books m and returns the resulting balances of the two accounts.
func (p *printer) move(m bank.Move) (from, to bank.Amount) {
	var err error
	if from, err = p.balances[m.From].Sub(m.Amount); err == nil {
		p.balances[m.From] = from
		to, err = p.balances[m.To].Add(m.Amount)
	}
	if err != nil && p.err == nil {
		p.err = err
	}
	p.balances[m.To] = to
	return from, to
}

// fresh returns the accounts of e that have not occurred before.
func (p *printer) fresh(e *bank.Entry) (names []string) {
	for _, m := range e.Moves {
		for _, name := range [...]string{m.From, m.To} {
			if _, ok := p.balances[name]; !ok {
				p.balances[name] = bank.Amount{}
				names = append(names, name)
			}
		}
	}
	return names
}

// escape converts s to one word of plain characters.
func escape[T ~string | ~[]byte](s T) string {
	const plain = `{}"[]()=+-_./*<>!?|~@#$&^ `
	var b strings.Builder
	for _, c := range []byte(s) {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(plain, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// A Filter selects entries. The zero value selects all entries.
type Filter struct {
	Account  string // account from which or to which money moved
	Contract *int64 // contract of the entry
}

// Match reports whether the filter selects e.
func (f Filter) Match(e *bank.Entry) bool {
	if f.Contract != nil && *f.Contract != e.Contract {
		return false
	}
	return f.Account == "" || slices.ContainsFunc(e.Moves, func(m bank.Move) bool { return m.From == f.Account || m.To == f.Account })
}

// Select returns the entries that the filter selects.
func (f Filter) Select(entries Entries) Entries {
	return func(yield func(*bank.Entry, tlog.Hash) bool) {
		for e, hash := range entries {
			if f.Match(e) && !yield(e, hash) {
				return
			}
		}
	}
}
