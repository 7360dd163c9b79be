package verify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"

	"bourse/bank/audit"
	"bourse/bank/canonical"
)

// noted lists the fields of notes that this package reads.
var noted = []string{
	"decision", "reason", "violates", "submit", "deadline", "runs_on", "on_demand", "per_host", "max_cpu", "penalty_rate", "penalty_max", "floor", "floors", "holds", "met", "licences", "licence_floor", "promised",
	"on", "price", "opens", "host", "parts", "ask", "state", "work", "needed", "work_done", "penalty_owed", "killed", "fault", "losses",
	"penalty_part", "penalty_most", "cause", "payer", "withheld", "exhausted", "start", "nodes", "bids", "unused", "approximate", "off", "lost", "market", "units", "offered", "low", "high", "owed",
}

// A note contains the fields of an entry's note: the terms of an admission, the verdict of a
// settlement, or the reason for a rejection.
type note struct {
	terms     terms
	verdict   verdict
	rejection rejection
	move      move
	clearing  clearingResult
	adjusted  adjusted
	err       error

	hosts hosts // nil if the hosts in notes are not needed
}

// A rejection is the reason why a request was rejected.
type rejection struct {
	Reason   string
	Ask      float64 // price asked, in dollars
	Violates *int64
}

// read sets n from the note of e.
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
	case audit.Moved:
		n.err = json.Unmarshal(e.Note, &n.move)
	case audit.Adjust:
		n.err = json.Unmarshal(e.Note, &n.adjusted)
	case audit.Cleared:
		n.err = json.Unmarshal(e.Note, &n.clearing)
	}
}

// empty clears n.
func (n *note) empty() {
	none := math.NaN()
	*n = note{
		terms:   terms{Submit: none, PenaltyMax: none, Opens: none, Ask: none, Start: none},
		verdict: verdict{Work: none, Needed: none, Done: none},
		hosts:   n.hosts,
	}
}

// bounds checks that the values in the note of e are possible. A contract must not be admitted
// before its submission. The work done by its deadline must be between zero and the work
// needed. If the command of the owner's request could not be started, the promise must be
// broken and no penalty may be owed. A note without these fields may have any contents, but all
// programs must parse it in the same way. The check of the accounts already shows that the
// charge is at most the escrow.
//
// Older ledgers do not contain the work needed if it differs from the owner's estimate. The
// table of jobs contains this work, if there is a table. If there is no table, t is nil.
func bounds(e *audit.Entry, n *note, t *trail) (found, want string) {
	if len(e.Note) == 0 {
		return "", ""
	}
	if e.Note[0] == '{' && (e.Kind == audit.Admit || e.Kind == audit.Reject || e.Kind == audit.Settle || e.Kind == audit.Moved || e.Kind == audit.Cleared || e.Kind == audit.Adjust) {
		if err := canonical.Check(e.Note, noted...); err != nil {
			return fmt.Sprintf("a note that programs can interpret differently: %v", err), "each field once, with the exact name"
		}
	}
	switch e.Kind {
	case audit.Admit:
		if known(n.terms.Submit) && !(n.terms.Submit <= e.Time) {
			return fmt.Sprintf("an admission at %v s of a request submitted at %v s", e.Time, n.terms.Submit), "an admission not before the submission"
		}
	case audit.Settle:
		v := &n.verdict
		if v.Fault != "" && (v.State != "violated" || v.Owed != "") {
			return fmt.Sprintf("the verdict %.40q, owing %.40q, although the user was at fault", v.State, cmp.Or(v.Owed, "0")), `"violated", owing nothing`
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
