package postgres

import (
	"time"

	"bourse/bank"
	"bourse/bank/store"
)

// quick waits less than is ordinary: tests lose writers often.
var quick = timing{answer: 10 * time.Second, beat: 100 * time.Millisecond, dead: 2 * time.Second}

// CreateQuick is [Create] with short waits.
func CreateQuick(url string, opts store.Options) (*store.Journal, error) {
	return create(url, opts, quick)
}

// OpenQuick is [Open] with short waits, and the given one for an answer.
func OpenQuick(url string, opts store.Options, answer time.Duration) (*store.Journal, *bank.Ledger, error) {
	t := quick
	t.answer = answer
	return open(url, opts, t)
}
