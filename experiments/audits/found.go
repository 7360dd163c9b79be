package audits

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"bourse/bank/audit"
	"bourse/experiments/report"
)

// An Audited is the name of a ledger and the report of its audit.
type Audited struct {
	Ledger string
	Report *audit.Report
}

// Found is the result of several audits.
type Found struct {
	Ledgers []Audited

	files *files // nil unless the files of the results were checked
}

// A Value is the JSON form of one result, for a ledger or for the files of the results.
type Value struct {
	*told
	*files
}

type told struct {
	Ledger string       `json:"ledger"`
	Report audit.Report `json:"report"`
}

// Clean reports whether there are no findings.
func (f *Found) Clean() bool {
	return (f.files == nil || len(f.files.Findings) == 0) &&
		!slices.ContainsFunc(f.Ledgers, func(a Audited) bool { return !a.Report.Clean() })
}

// values returns the JSON form of the findings.
func (f *Found) values() []Value {
	list := []Value{}
	for _, a := range f.Ledgers {
		r := *a.Report
		r.Findings, r.Beyond, r.Balances = report.List(r.Findings), report.List(r.Beyond), report.List(r.Balances)
		list = append(list, Value{told: &told{a.Ledger, r}})
	}
	if f.files != nil {
		list = append(list, Value{files: f.files})
	}
	return list
}

// Document returns the findings as a document. If quiet is set, its text contains only
// problems.
func (f *Found) Document(quiet bool) report.Document { return report.Said(f.Text(quiet), f.values()) }

// Text returns the findings as text. If quiet is set, it contains only problems.
func (f *Found) Text(quiet bool) string {
	var b strings.Builder
	for _, a := range f.Ledgers {
		r := a.Report
		if !r.Clean() {
			fmt.Fprintf(&b, "%s: BAD\n", a.Ledger)
			for _, f := range r.Findings {
				fmt.Fprintf(&b, "  %s\n", f)
			}
			continue
		}
		if quiet {
			continue
		}
		fmt.Fprintf(&b, "%s: clean\n  %d entries, head %s\n", a.Ledger, r.Entries, r.Head)
		if r.Mode == "owned" {
			fmt.Fprintf(&b, "  owned: the signature, key and right of %d orders were checked; ledger %s, operator %s\n", r.Orders, r.Ledger, r.Operator)
		} else {
			b.WriteString("  open: anyone who can write to the ledger can transfer any money\n")
		}
		if r.Since > 0 {
			fmt.Fprintf(&b, "  since entry %d:\n", r.Since)
		}
		for _, s := range r.Cosigned {
			fmt.Fprintf(&b, "  entries up to %d were cosigned by %s at %s\n", s.Entries, s.By, s.Time.Format(time.RFC3339))
		}
		fmt.Fprintf(&b, "  %d contracts were admitted, %d were settled, and %d requests were rejected", r.Admitted, r.Settled, r.Rejected)
		if r.Refused > 0 {
			fmt.Fprintf(&b, "; %d orders refused permanently", r.Refused)
		}
		b.WriteByte('\n')
		fmt.Fprintf(&b, "  issued %s", r.Issued)
		if r.Since == 0 {
			fmt.Fprintf(&b, " = accounts %s + escrow %s", accounts(r), r.Held)
		}
		fmt.Fprintf(&b, "; charged %s, refunded %s, penalties %s\n", r.Charged, r.Refunded, r.Penalties)
		if r.Computed > 0 {
			fmt.Fprintf(&b, "  charges and verdicts of %d contracts were recomputed and agree with the table of jobs\n", r.Computed)
		}
		beyond(&b, r.Beyond)
	}
	if f.files != nil {
		f.files.print(&b, quiet)
	}
	return b.String()
}

// beyond writes a list of the data that the audit could not check.
func beyond(b *strings.Builder, what []string) {
	for _, x := range what {
		fmt.Fprintf(b, "  not detectable here: %s\n", x)
	}
}

// accounts returns the total balance of all accounts except escrows and the mint.
func accounts(r *audit.Report) audit.Money {
	var sum audit.Money
	for _, b := range r.Balances {
		if b.Account != "mint" && !strings.HasPrefix(b.Account, "escrow:") {
			sum += b.Amount
		}
	}
	return sum
}
