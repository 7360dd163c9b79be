package postgres

import (
	"time"

	"bourse/bank"
	"bourse/bank/store"
)

// CreateWith is [Create] with signs of life ten times a second.
func CreateWith(url string, opts store.Options) (*store.Journal, error) {
	return create(url, opts, timing{answer: 10 * time.Second, beat: 100 * time.Millisecond, dead: 2 * time.Second})
}

// OpenWith is [Open] with other waits for an answer, and for another writer's sign of
// life.
func OpenWith(url string, opts store.Options, answer, dead time.Duration) (*store.Journal, *bank.Ledger, error) {
	return open(url, opts, timing{answer: answer, beat: 100 * time.Millisecond, dead: dead})
}
