package service

import (
	"context"

	"bourse/bank"
	"bourse/bank/store"
)

// A Ledger is a bank that is asked, one here, a [store.Sequencer], or one elsewhere, a
// [Client]; the errors are the same.
type Ledger interface {
	// Do books an entry once, however often it is asked for by its ID, and returns its
	// receipt: see [store.Sequencer.Do]. A bank elsewhere gives the entry its Time.
	Do(ctx context.Context, e bank.Entry) (store.Receipt, error)

	// Answer returns the entry that a request was booked as, and whether it was.
	Answer(ctx context.Context, id string) (bank.Entry, bool, error)

	// Balance returns what an account, or an escrow, holds.
	Balance(ctx context.Context, name string) (bank.Amount, error)

	// Escrows returns the open escrows, by name; a bank elsewhere those alone that who
	// asks may read.
	Escrows(ctx context.Context) ([]bank.Holding, error)
}

var _ Ledger = (*store.Sequencer)(nil)
