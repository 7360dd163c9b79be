package audit

// A Follower receives every entry that is valid by itself during an audit, and reports further
// problems.
type Follower interface {
	// Entry returns the text found in e and the text expected, or nothing if e is correct. The
	// entry is valid until the next call. The function holds returns an account's balance after e.
	Entry(e *Entry, holds func(account string) Money) (found, want string)

	// Each reports whether Entry should also receive entries without a contract.
	Each() bool

	// End is called after the last entry, seq, if all entries are valid. It returns a finding
	// if something is missing afterwards, or nil.
	End(seq int64) *Finding

	// Result returns findings that do not concern an entry.
	Result() Result
}

// A Result is the contribution of a [Follower] to a report.
type Result struct {
	Findings []Finding // about files outside the ledger
	Computed int64     // settled contracts whose charges were recomputed
	Beyond   []string  // errors that the audit could not have detected
}

// holdsOf returns an account's balance, or 0 if there is no such account.
func (b *books) holdsOf(account string) Money {
	if a := b.account([]byte(account)); a != nil {
		return a.holds
	}
	return 0
}
