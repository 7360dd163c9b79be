package store

import "iter"

// Values are a ledger's, by key, as the package comment lists them.
type Values interface {
	// Get returns the value at key, nil if there is none.
	Get(key []byte) ([]byte, error)

	// Scan yields keys and values in [from, to) in order, valid until the next, and
	// leaves in err what went wrong.
	Scan(from, to []byte, err *error) iter.Seq2[[]byte, []byte]
}

// A Backend is where the values of a journal stand: a directory, for [Create] and
// [Open], or a database elsewhere. One journal at a time has it.
type Backend interface {
	Values

	// Batch begins a change.
	Batch() Batch

	// Close closes the backend in good order, whose ledger has come to head.
	Close(head Head) error

	// Release lets the backend go as a process that died would. After Close, or
	// another Release, it does nothing.
	Release() error
}

// A Fetcher is a [Backend] that answers sooner what it was told would be asked: the
// values at keys, until it is told of others, or the next Commit.
type Fetcher interface {
	Fetch(keys [][]byte)
}

// A Holder is a [Backend] that another writer takes over if nothing is heard of this one.
// Held returns an error unless this is still the writer: else who reads might learn what
// another has changed already.
type Holder interface {
	Held() error
}

// A Batch is values that change together or not at all.
type Batch interface {
	Set(key, value []byte) error
	Delete(key []byte) error

	// Commit makes the change durable, with which the ledger comes to head. After an
	// error it is unknown whether it was made.
	Commit(head Head, w Write) error

	// Close forgets the change, if it was not committed.
	Close() error
}

// A Write says what a batch holds.
type Write uint8

// What a batch may hold.
const (
	WriteGroup    Write = iota // a group
	WriteBalances              // what balances stand for, and the group that they stand for
	WriteLast                  // the same, after which the ledger is closed
)
