package service

import (
	"context"

	"bourse/bank"
	"bourse/bank/store"
)

// A Ledger is a local bank, a [store.Sequencer], or a remote bank, a [Client]. Both return the
// same errors.
type Ledger interface {
	// Do books an entry and returns its receipt. Repeated requests with the same ID are booked
	// only once: see [store.Sequencer.Do]. A remote bank sets the entry's Time.
	Do(ctx context.Context, e bank.Entry) (store.Receipt, error)

	// Answer returns the entry that was booked for a request, and reports whether it exists.
	Answer(ctx context.Context, id string) (bank.Entry, bool, error)

	// Balance returns the balance of an account or escrow.
	Balance(ctx context.Context, name string) (bank.Amount, error)

	// Escrows returns the open escrows, sorted by name. A remote bank returns only those that
	// the client may read.
	Escrows(ctx context.Context) ([]bank.Holding, error)
}

var _ Ledger = (*store.Sequencer)(nil)
