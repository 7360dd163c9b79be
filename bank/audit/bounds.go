package audit

import (
	"encoding/json"
	"fmt"

	"bourse/bank/canonical"
)

// noted are the fields of notes that are read here.
var noted = []string{
	"decision", "reason", "violates", "submit", "deadline", "runs_on", "on_demand", "per_host", "max_cpu", "penalty_rate", "penalty_max",
	"on", "price", "host", "ask", "state", "work", "needed", "work_done", "penalty_owed", "killed",
}

// bounds holds what the note of e says of a contract to what can be true of any:
// it is not admitted before it was submitted, and the work done by its deadline is
// at least none and at most all that was needed. Notes that say nothing of it are
// their writers' own, but none may be such that programs read it differently. That no
// more is charged than was held the books tell.
//
// Ledgers of old do not say what was needed where the owner had estimated something
// else; the table of jobs does, where there is one (of t, which may be nil).
func bounds(e *entry, t *trail) (found, want string) {
	if len(e.note) == 0 {
		return "", ""
	}
	if e.note[0] == '{' && (e.kind == admit || e.kind == reject || e.kind == settle) {
		if err := canonical.Check(e.note, noted...); err != nil {
			return fmt.Sprintf("a note that programs read differently: %v", err), "each field once, in its case"
		}
	}
	switch e.kind {
	case admit:
		var n struct{ Submit *float64 }
		if json.Unmarshal(e.note, &n) == nil && n.Submit != nil && !(*n.Submit <= e.time) {
			return fmt.Sprintf("an admission at %v s of what is submitted at %v s", e.time, *n.Submit), "one at its submission or later"
		}
	case settle:
		var v verdict
		if json.Unmarshal(e.note, &v) != nil || v.Done == nil || v.Work == nil {
			return "", ""
		}
		most := v.needed()
		if t != nil && v.Needed == nil && t.rows[e.contract] != nil {
			most = t.rows[e.contract].Work
		}
		if !(*v.Done >= 0 && *v.Done <= most) {
			return fmt.Sprintf("%v of %v CPU s done by the deadline", *v.Done, most), fmt.Sprintf("0 to %v", most)
		}
	}
	return "", ""
}
