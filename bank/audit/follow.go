package audit

// A Follower receives every entry that is valid by itself during an audit, and reports further
// problems.
type Follower interface {
	// Entry returns the value found in e and the value wanted, or two empty strings if e is
	// correct. The entry is valid until the next call. The function holds returns the balance
	// of an account after e.
	Entry(e *Entry, holds func(account string) Money) (found, want string)

	// Each reports whether Entry should also receive entries without a contract.
	Each() bool

	// End is called after the last entry, whose number is seq, if all entries are valid. It
	// returns a finding if data are missing at the end, or nil.
	End(seq int64) *Finding

	// Result returns the findings that do not concern an entry.
	Result() Result
}

// A Result is the contribution of a [Follower] to a report.
type Result struct {
	Findings []Finding // findings about files outside the ledger
	Computed int64     // number of settled contracts whose charges were recomputed
	Beyond   []string  // descriptions of errors that the audit could not have detected
}

// holdsOf returns an account's balance, or 0 if there is no such account.
func (b *books) holdsOf(account string) Money {
	if a := b.account([]byte(account)); a != nil {
		return a.holds
	}
	return 0
}
