package audit

import "fmt"

// A Finding is a problem that the audit found.
type Finding struct {
	Seq   int64  `json:"seq,omitempty" doc:"the first bad entry, or 0 where that cannot be known"`
	To    int64  `json:"to,omitempty" doc:"if it is one of several, Seq being the first, the last of them"`
	File  string `json:"file,omitempty" doc:"if it is about a file"`
	Found string `json:"found"`
	Want  string `json:"want"`
}

// String returns the place, what was found and what was expected.
func (f Finding) String() string {
	s := fmt.Sprintf("found %s, want %s", f.Found, f.Want)
	if f.File != "" {
		s = f.File + ": " + s
	}
	if f.To > 0 {
		s = fmt.Sprintf("entries %d to %d: %s", f.Seq, f.To, s)
	} else if f.Seq > 0 {
		s = fmt.Sprintf("entry %d: %s", f.Seq, s)
	}
	return s
}

// A Report is the result of an audit.
type Report struct {
	Entries  int64     `json:"entries" doc:"that were read and are good"`
	Head     string    `json:"head" doc:"of those"`
	Restored int64     `json:"restored,omitempty" doc:"of those, that stand in ACKS alone: writes cut short, or under way"`
	Closed   bool      `json:"closed" doc:"the ledger was closed and its files sealed"`
	Findings []Finding `json:"findings" doc:"the first bad entry first; empty is a clean ledger"`
	Beyond   []string  `json:"beyond" doc:"what could not have been found"`

	Mode     string `json:"mode" doc:"open: whoever could write it could move any money; owned: entries carry signed orders"`
	Ledger   string `json:"ledger,omitempty" doc:"the id of an owned ledger"`
	Operator string `json:"operator,omitempty" doc:"the operator's public key at the end"`
	Orders   int64  `json:"orders,omitempty" doc:"that were checked: signature, key and right as of their entry"`

	Cosigned []Cosigned `json:"cosigned,omitempty" doc:"by witnesses, when: entries to that one had been booked, and the others had not been published"`

	Since     int64 `json:"since,omitempty" doc:"the sums are of entries after this one"`
	Issued    Money `json:"issued"`
	Charged   Money `json:"charged" doc:"from escrow to anyone but the owner"`
	Refunded  Money `json:"refunded" doc:"from escrow to the owner"`
	Held      Money `json:"held" doc:"in escrow at the end"`
	Penalties Money `json:"penalties"`
	Admitted  int64 `json:"admitted" doc:"contracts"`
	Settled   int64 `json:"settled"`
	Rejected  int64 `json:"rejected"`
	Refused   int64 `json:"refused,omitempty" doc:"orders that the ledger refused, whose ids are used up"`
	Computed  int64 `json:"computed" doc:"settled contracts whose charges were computed again"`

	Balances []Balance `json:"balances" doc:"at the end, escrows included, by name"`
}

// A Balance is the balance of an account.
type Balance struct {
	Account string `json:"account"`
	Amount  Money  `json:"amount"`
}

// Clean reports whether the audit found no problem.
func (r *Report) Clean() bool { return len(r.Findings) == 0 }

// What cannot be detected in a ledger that was not closed.
const (
	lostTail  = "the loss of entries that were added since HEAD was last written: the ledger was not closed"
	pebbleOwn = "a change to what a write cut short has left, on which no entry rests: the ledger was not closed"
)

func (a *auditor) report() *Report {
	r := a.books.report()
	r.Entries, r.Restored, r.Since = a.chain.size, a.restored, a.opts.Since
	r.Head = fmt.Sprintf("%d:%s", a.chain.size, a.chain.root())
	r.Closed = a.closed()
	if r.Mode = "open"; a.authority.owned() {
		r.Mode, r.Ledger, r.Operator, r.Orders = "owned", a.authority.ledger, a.authority.keys["operator"], a.authority.orders
		if len(a.authority.pinned) == 0 {
			r.Beyond = append(r.Beyond, "whether the keys that the ledger began with are those of its operator: no key was given to hold them against")
		} else if len(a.authority.pinned) == 1 {
			r.Beyond = append(r.Beyond, "whether the key of recovery is the operator's own: it was not given")
		}
	}
	r.Cosigned = a.times.cosigned()
	if a.bad != nil {
		r.Findings = append(r.Findings, *a.bad)
	}
	r.Findings = append(r.Findings, a.files...)
	if a.follower != nil {
		more := a.follower.Result()
		r.Findings = append(r.Findings, more.Findings...)
		r.Computed = more.Computed
		r.Beyond = append(r.Beyond, more.Beyond...)
	}
	if a.opts.Head == "" {
		r.Beyond = append(r.Beyond,
			"a ledger that was made anew as a whole, HEAD included",
			"an older copy of this ledger in its place",
			"a fork: another ledger shown to somebody else")
	}
	if !r.Closed && len(a.acks) == 0 {
		r.Beyond = append(r.Beyond, lostTail)
	}
	if !r.Closed {
		r.Beyond = append(r.Beyond, pebbleOwn)
	}
	return r
}
