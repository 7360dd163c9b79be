// Package place opens ledgers by their addresses. An address is a directory, or the URL of a
// ledger in a database. Callers need not distinguish the two.
//
// The package is independent of the meaning of entries and of the code that uses them.
package place

import (
	"errors"

	"bourse/bank/audit"
	"bourse/bank/store"
	"bourse/bank/store/postgres"
)

// A Place is the location of an existing or new ledger.
type Place interface {
	// String returns the address without a password, so that it can be printed.
	String() string

	// Base returns the default name of the ledger.
	Base() (string, error)

	Create(opts store.Options) (*store.Journal, error)

	// Writer opens the ledger for writing. It returns [store.ErrLocked] if another process has
	// it open for writing.
	Writer(opts store.Options) (*store.Sequencer, error)
	Reader() (*store.Reader, error)
	Audit(opts audit.Options) (*audit.Report, error)

	// Sync makes the data that a reader has read durable.
	Sync() error

	// part returns the temporary place in which a copy for this place is made. This place must
	// be empty. The next methods move the copy to this place, mark it as finished, or remove
	// it.
	part() (Place, error)
	rename(to Place) error
	finish() error
	discard() error
}

// At returns the place with the given address.
func At(address string) Place {
	if IsURL(address) {
		return server(address)
	}
	return folder(address)
}

// IsURL reports whether address is the URL of a ledger in a database.
func IsURL(address string) bool { return postgres.IsURL(address) }

// Misplaced reports whether err means that there is no ledger where one is expected, or that a
// place that should be empty is not.
func Misplaced(err error) bool {
	return errors.Is(err, store.ErrNone) || errors.Is(err, audit.ErrNone) || errors.Is(err, postgres.ErrURL) || errors.Is(err, store.ErrOccupied) || errors.Is(err, store.ErrExists)
}
