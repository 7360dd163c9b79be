// Package place opens ledgers by their addresses: a folder, or the URL of a ledger in a
// database. Who has one need not know which it is.
//
// It does not know what entries mean, nor who asks.
package place

import (
	"errors"

	"bourse/bank/audit"
	"bourse/bank/store"
	"bourse/bank/store/postgres"
)

// A Place is where a ledger is, or is to be.
type Place interface {
	// String returns the address as it may be printed: without password.
	String() string

	// Base returns what the ledger is called where no more is said.
	Base() (string, error)

	Create(opts store.Options) (*store.Journal, error)

	// Writer opens the ledger to write it; one that is written by another is
	// [store.ErrLocked].
	Writer(opts store.Options) (*store.Sequencer, error)
	Reader() (*store.Reader, error)
	Audit(opts audit.Options) (*audit.Report, error)

	// Sync makes durable what was read.
	Sync() error

	// part returns where a copy is made that will be here, at which there must be
	// nothing; the other methods make it the one here, an unfinished one a bank, or
	// remove it.
	part() (Place, error)
	rename(to Place) error
	finish() error
	discard() error
}

// At returns the place of that address.
func At(address string) Place {
	if IsURL(address) {
		return server(address)
	}
	return folder(address)
}

// IsURL reports whether address is of a ledger in a database.
func IsURL(address string) bool { return postgres.IsURL(address) }

// Misplaced reports whether err says that no ledger is where it should be, or one, or
// something else, where it should not.
func Misplaced(err error) bool {
	return errors.Is(err, store.ErrNone) || errors.Is(err, audit.ErrNone) || errors.Is(err, postgres.ErrURL) || errors.Is(err, store.ErrOccupied)
}
