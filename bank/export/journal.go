package export

import (
	"strconv"

	"bourse/bank"

	"golang.org/x/mod/sumdb/tlog"
)

// A journal is a writer of the common format of hledger and ledger, valid in their strict
// modes. Each posting asserts the resulting balance of its account.
type journal struct{ *printer }

func newJournal(p *printer) writer {
	p.printf("commodity USD\n    format 1000.000000 USD\n\n")
	for _, tag := range []string{"seq", "time", "contract", "id", "note"} {
		p.printf("tag %s\n", tag)
	}
	return journal{p}
}

func (j journal) entry(e *bank.Entry, _ tlog.Hash) {
	j.printf("\n")
	for _, name := range j.fresh(e) {
		j.printf("account %s\n", name)
	}
	j.printf("%s (%d) %v\n", j.date(e.Time), e.Seq, e.Kind)
	j.printf("    ; seq: %d\n    ; time: %s\n", e.Seq, seconds(e.Time))
	if e.Contract != bank.NoContract {
		j.printf("    ; contract: %d\n", e.Contract)
	}
	if e.ID != "" {
		j.printf("    ; id: %s\n", escape(e.ID))
	}
	if len(e.Note) > 0 {
		j.printf("    ; note: %s\n", escape(e.Note))
	}
	for _, m := range e.Moves {
		from, to := j.move(m)
		j.printf("    %-30s %20s USD = %v USD\n", m.From, "-"+m.Amount.String(), from)
		j.printf("    %-30s %20s USD = %v USD\n", m.To, m.Amount, to)
	}
}

func (journal) end() {}

// seconds formats a time so that parsing the result returns the same time.
func seconds(t float64) string { return strconv.FormatFloat(t, 'f', -1, 64) }
