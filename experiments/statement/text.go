package statement

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"bourse/bank"
	notes "bourse/contracts/note"
	"bourse/experiments/report"
)

// Document returns s as a document.
func (s *Statement) Document() report.Document { return report.Said(s.text(), *s) }

func (s *Statement) text() string {
	var p printer
	p.line("Statement of " + s.Account)
	p.line("Amounts are in dollars; times are in seconds since the origin of the run.")
	p.line("")
	p.amount("", "opening balance", s.Opening)
	for _, o := range s.Others {
		what := o.Kind.String()
		if o.Contract != nil {
			what += fmt.Sprintf(" of contract %d", *o.Contract)
		}
		if o.ID != "" {
			what += " " + o.ID
		}
		way := " from "
		if o.Amount.Sign() < 0 {
			way = " to "
		}
		p.amount(instant(o.Time), what+way+o.With, o.Amount)
	}
	for _, k := range s.Contracts {
		p.contract(k)
	}
	p.line("")
	p.amount("", "closing balance", s.Closing)
	if s.Held.Sign() > 0 {
		p.amount("", "in escrow besides", s.Held)
	}
	return p.String()
}

type printer struct{ strings.Builder }

func (p *printer) line(s string) { p.WriteString(s + "\n") }

// amount prints one line with the time, a description and the amount.
func (p *printer) amount(when, what string, a bank.Amount) {
	p.line(fmt.Sprintf("%14s  %-42s %18v", when, what, a))
}

// contract prints the history of one contract. The budget leaves the account, and the
// refund and the penalty return to it.
func (p *printer) contract(k *statedContract) {
	p.line("")
	p.line(fmt.Sprintf("contract %d: %s", k.Contract, plainText(k.Verdict)))
	p.amount(instant(k.Admitted), "budget set aside", bank.Micros(-k.Budget.Micros()))
	p.told(k.Decision)
	if k.Settled == nil {
		return
	}
	for _, c := range k.Charges {
		p.amount("", "  of which charged by "+c.To, c.Amount)
	}
	p.amount(instant(*k.Settled), "refund", k.Refund)
	p.told(k.Outcome)
	if k.Penalty.Sign() > 0 {
		p.amount("", "penalty that you received", k.Penalty)
	}
}

// told prints the note of an entry.
func (p *printer) told(note json.RawMessage) {
	if s := noted(note); s != "" {
		p.line(strings.Repeat(" ", 18) + s)
	}
}

func instant(t float64) string { return strconv.FormatFloat(t, 'f', 3, 64) + " s" }

// units are the units of the numbers in notes. The numbers are defined by
// bourse/contracts/note and by the policies.
var units = map[string]string{
	"price": "$/s", "percentile": "$/s", "ask": "$", "balance": "$", "budget": "$",
	"share": "hosts", "spot_share": "hosts", "threshold": "hosts",
	"submit": "s", "deadline": "s", "opens": "s", "max_cpu": "processors",
	"penalty_rate": "$/s", "penalty_max": "$", "penalty_owed": "$",
	"work": "CPU s", "needed": "CPU s", "work_done": "CPU s", "wasted": "CPU s",
}

// noted formats a note. noted formats a note. An object of numbers and words becomes a list;
// any other note is not changed.
func noted(note json.RawMessage) string {
	fields, ok := notes.Fields(note)
	if !ok {
		return plainText(string(note))
	}
	var parts []string
	for _, f := range fields {
		value := f.Value
		switch v := value.(type) {
		case json.Number:
			if x, err := v.Float64(); err == nil {
				value = report.Maybe(x)
			}
			if unit := units[f.Name]; unit != "" {
				value = fmt.Sprintf("%v %s", value, unit)
			}
		case []any: // an exact number or a list of words
			value = strings.Trim(fmt.Sprint(v), "[]")
			if f.Name == "on" {
				value = fmt.Sprintf("%v (bids are in nano-dollars per second)", value)
			}
		}
		parts = append(parts, plainText(fmt.Sprintf("%s %v", strings.ReplaceAll(f.Name, "_", " "), value)))
	}
	return strings.Join(parts, ", ")
}

// plainText returns s. plainText quotes s if a terminal could interpret it.
func plainText(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}
