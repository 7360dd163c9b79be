package verify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"

	"bourse/bank/audit"
	"bourse/bank/canonical"
)

// noted are the fields of notes that are read here.
var noted = []string{
	"decision", "reason", "violates", "submit", "deadline", "runs_on", "on_demand", "per_host", "max_cpu", "penalty_rate", "penalty_max", "floor",
	"on", "price", "opens", "host", "parts", "ask", "state", "work", "needed", "work_done", "penalty_owed", "killed", "fault", "losses",
	"penalty_part", "penalty_most", "cause", "payer", "withheld",
}

// A note is what an entry says: terms of an admission, or the verdict of a settlement.
type note struct {
	terms     terms
	verdict   verdict
	rejection rejection
	err       error

	hosts hosts // nil if nobody asks for those in notes
}

// A rejection is why a request was rejected.
type rejection struct {
	Reason   string
	Violates *int64
}

// read makes n the note of e.
func (n *note) read(e *audit.Entry) {
	on := n.terms.on[:0]
	n.empty()
	if len(e.Note) == 0 {
		return
	}
	switch e.Kind {
	case audit.Admit:
		if n.err = json.Unmarshal(e.Note, &n.terms); n.hosts != nil {
			n.terms.on = n.terms.places(on, n.hosts)
		}
	case audit.Settle:
		n.err = json.Unmarshal(e.Note, &n.verdict)
	case audit.Reject:
		n.err = json.Unmarshal(e.Note, &n.rejection)
	}
}

// empty makes n a note that says nothing.
func (n *note) empty() {
	none := math.NaN()
	*n = note{
		terms:   terms{Submit: none, PenaltyMax: none, Opens: none, Ask: none},
		verdict: verdict{Work: none, Needed: none, Done: none},
		hosts:   n.hosts,
	}
}

// bounds holds what the note of e says of a contract to what can be true of any:
// it is not admitted before it was submitted, and the work done by its deadline is
// at least none and at most all that was needed. Notes that say nothing of it are
// their writers' own, but none may be such that programs read it differently. That no
// more is charged than was held the books tell.
// If its owner asked for what cannot be done, its promise is broken and nothing is owed.
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
		if known(n.terms.Submit) && !(n.terms.Submit <= e.Time) {
			return fmt.Sprintf("an admission at %v s of what is submitted at %v s", e.Time, n.terms.Submit), "one at its submission or later"
		}
	case audit.Settle:
		v := &n.verdict
		if v.Fault != "" && (v.State != "violated" || v.Owed != "") {
			return fmt.Sprintf("the verdict %.40q, owing %.40q, with a fault of the owner's", v.State, cmp.Or(v.Owed, "0")), `"violated", owing nothing`
		}
		if n.err != nil || !known(v.Done) || !known(v.Work) {
			return "", ""
		}
		most := v.needed()
		if t != nil && !known(v.Needed) {
			if j := t.job(e.Contract); j != nil {
				most = j.Work
			}
		}
		if !(v.Done >= 0 && v.Done <= most) {
			return fmt.Sprintf("%v of %v CPU s done by the deadline", v.Done, most), fmt.Sprintf("0 to %v", most)
		}
	}
	return "", ""
}
