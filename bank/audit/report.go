package audit

import "fmt"

// A Finding is a problem that the audit found.
type Finding struct {
	Seq   int64  `json:"seq,omitempty" doc:"first bad entry; 0 if unknown"`
	To    int64  `json:"to,omitempty" doc:"last entry of a range that starts at seq and contains the bad one"`
	File  string `json:"file,omitempty" doc:"file of the finding, if it concerns a file"`
	Found string `json:"found"`
	Want  string `json:"want"`
}

// String returns the location, the value found and the value expected.
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
	Entries  int64     `json:"entries" doc:"valid entries read"`
	Head     string    `json:"head" doc:"head after the valid entries"`
	Restored int64     `json:"restored,omitempty" doc:"valid entries found only in ACKS: their write was interrupted or is in progress"`
	Closed   bool      `json:"closed" doc:"whether the ledger was closed and its files sealed"`
	Findings []Finding `json:"findings" doc:"problems, the first bad entry first; empty if the ledger is clean"`
	Beyond   []string  `json:"beyond" doc:"problems that this audit could not detect"`

	Mode     string `json:"mode" doc:"open: anyone who can write the ledger can move any money; owned: entries carry signed orders"`
	Ledger   string `json:"ledger,omitempty" doc:"id of an owned ledger"`
	Operator string `json:"operator,omitempty" doc:"operator's public key at the end"`
	Orders   int64  `json:"orders,omitempty" doc:"orders checked: signature, key and right at the time of their entry"`

	Cosigned []Cosigned `json:"cosigned,omitempty" doc:"cosignatures: witness, time and the number of entries published by then"`

	Since     int64 `json:"since,omitempty" doc:"entry after which the sums start"`
	Issued    Money `json:"issued"`
	Charged   Money `json:"charged" doc:"paid from escrow to others than the owner"`
	Refunded  Money `json:"refunded" doc:"paid from escrow back to the owner"`
	Held      Money `json:"held" doc:"money in escrow at the end"`
	Penalties Money `json:"penalties"`
	Admitted  int64 `json:"admitted" doc:"contracts admitted"`
	Settled   int64 `json:"settled"`
	Rejected  int64 `json:"rejected"`
	Refused   int64 `json:"refused,omitempty" doc:"orders that the ledger refused; their ids cannot be used again"`
	Computed  int64 `json:"computed" doc:"settled contracts whose charges were recomputed"`

	Balances []Balance `json:"balances" doc:"balances at the end, including escrows, by account name"`
}

// A Balance is the balance of an account.
type Balance struct {
	Account string `json:"account"`
	Amount  Money  `json:"amount"`
}

// Clean reports whether the audit found no problem.
func (r *Report) Clean() bool { return len(r.Findings) == 0 }

// These are errors that an audit cannot detect in a ledger that was not closed.
const (
	lostTail  = "the loss of entries added after HEAD was last written: the ledger was not closed"
	pebbleOwn = "a change to the remains of an interrupted write, which no entry depends on: the ledger was not closed"
)

func (a *auditor) report() *Report {
	r := a.books.report()
	r.Entries, r.Restored, r.Since = a.chain.size, a.restored, a.opts.Since
	r.Head = fmt.Sprintf("%d:%s", a.chain.size, a.chain.root())
	r.Closed = a.closed()
	if r.Mode = "open"; a.authority.owned() {
		r.Mode, r.Ledger, r.Operator, r.Orders = "owned", a.authority.ledger, a.authority.keys["operator"], a.authority.orders
		if len(a.authority.pinned) == 0 {
			r.Beyond = append(r.Beyond, "whether the ledger's first keys belong to its operator: no key was given for comparison")
		} else if len(a.authority.pinned) == 1 {
			r.Beyond = append(r.Beyond, "whether the recovery key belongs to the operator: it was not given")
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
			"a completely rewritten ledger, including HEAD",
			"an older copy of this ledger in its place",
			"a fork: a different ledger shown to someone else")
	}
	if !r.Closed && len(a.acks) == 0 {
		r.Beyond = append(r.Beyond, lostTail)
	}
	if !r.Closed {
		r.Beyond = append(r.Beyond, pebbleOwn)
	}
	return r
}
