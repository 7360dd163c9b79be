package audit

// A Follower goes through a ledger with an audit: it is told every entry that is in
// order in itself, and says what else is amiss with it.
type Follower interface {
	// Entry says what it finds in e and what should stand there, nothing if all is
	// well. E is good until the next call; holds returns what an account has after it.
	Entry(e *Entry, holds func(account string) Money) (found, want string)

	// Each reports whether it is to be told of entries without a contract as well.
	Each() bool

	// End is told that all entries are good, seq being the last, and returns what is
	// missing after it, nil if nothing is.
	End(seq int64) *Finding

	// Result returns what was found beside the entries.
	Result() Result
}

// A Result is what a [Follower] adds to a report.
type Result struct {
	Findings []Finding // about files beside the ledger
	Computed int64     // settled contracts whose charges were computed again
	Beyond   []string  // what could not have been found
}

// holdsOf returns what an account has, 0 if there is none.
func (b *books) holdsOf(account string) Money {
	if a := b.account([]byte(account)); a != nil {
		return a.holds
	}
	return 0
}
