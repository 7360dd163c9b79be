package audit

import (
	"encoding/json"
	"fmt"
)

// bounds holds what the note of e says of a contract to what can be true of any:
// it is not admitted before it was submitted, and the work done by its deadline is
// at least none and at most all that was needed. Notes that say nothing of it are
// their writers' own. That no more is charged than was held the books tell.
func bounds(e *entry) (found, want string) {
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
		if json.Unmarshal(e.note, &v) == nil && v.Done != nil && v.Work != nil && !(*v.Done >= 0 && *v.Done <= v.needed()) {
			return fmt.Sprintf("%v of %v CPU s done by the deadline", *v.Done, v.needed()), fmt.Sprintf("0 to %v", v.needed())
		}
	}
	return "", ""
}
