package verify

import (
	"encoding/json"
	"fmt"

	"bourse/bank/audit"
	"bourse/bank/canonical"
)

// noted are the fields of notes that are read here.
var noted = []string{
	"decision", "reason", "violates", "submit", "deadline", "runs_on", "on_demand", "per_host", "max_cpu", "penalty_rate", "penalty_max",
	"on", "price", "opens", "host", "parts", "ask", "state", "work", "needed", "work_done", "penalty_owed", "killed",
}

// A note is what an entry says: terms of an admission, or the verdict of a settlement.
type note struct {
	terms   terms
	verdict verdict
	err     error
}

// read makes n the note of e.
func (n *note) read(e *audit.Entry) {
	*n = note{}
	switch {
	case len(e.Note) == 0:
	case e.Kind == audit.Admit:
		n.err = json.Unmarshal(e.Note, &n.terms)
	case e.Kind == audit.Settle:
		n.err = json.Unmarshal(e.Note, &n.verdict)
	}
}

// bounds holds what the note of e says of a contract to what can be true of any:
// it is not admitted before it was submitted, and the work done by its deadline is
// at least none and at most all that was needed. Notes that say nothing of it are
// their writers' own, but none may be such that programs read it differently. That no
// more is charged than was held the books tell.
//
// Ledgers of old do not say what was needed where the owner had estimated something
// else; the table of jobs does, where there is one (of t, which may be nil).
func bounds(e *audit.Entry, n *note, t *trail) (found, want string) {
	if len(e.Note) == 0 {
		return "", ""
	}
	if e.Note[0] == '{' && (e.Kind == audit.Admit || e.Kind == audit.Reject || e.Kind == audit.Settle) {
		if err := canonical.Check(e.Note, noted...); err != nil {
			return fmt.Sprintf("a note that programs read differently: %v", err), "each field once, in its case"
		}
	}
	switch e.Kind {
	case audit.Admit:
		if n.terms.Submit != nil && !(*n.terms.Submit <= e.Time) {
			return fmt.Sprintf("an admission at %v s of what is submitted at %v s", e.Time, *n.terms.Submit), "one at its submission or later"
		}
	case audit.Settle:
		v := &n.verdict
		if n.err != nil || v.Done == nil || v.Work == nil {
			return "", ""
		}
		most := v.needed()
		if t != nil && v.Needed == nil && t.rows[e.Contract] != nil {
			most = t.rows[e.Contract].Work
		}
		if !(*v.Done >= 0 && *v.Done <= most) {
			return fmt.Sprintf("%v of %v CPU s done by the deadline", *v.Done, most), fmt.Sprintf("0 to %v", most)
		}
	}
	return "", ""
}
