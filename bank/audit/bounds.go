package audit

import (
	"encoding/json"
	"fmt"
)

// bounds holds what the note of e says of a contract to what can be true of any:
// it is not admitted before it was submitted, and the work done by its deadline is
// at least none and at most all that was needed. Notes that say nothing of it are
// their writers' own. That no more is charged than was held the books tell.
//
// Ledgers of old do not say what was needed where the owner had estimated something
// else; the table of jobs does, where there is one (of t, which may be nil).
func bounds(e *entry, t *trail) (found, want string) {
	if len(e.note) == 0 {
		return "", ""
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
