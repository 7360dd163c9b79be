package store

import "iter"

// Values provides read access to the values of a ledger by key. The package comment lists the
// keys.
type Values interface {
	// Get returns the value at key, or nil if there is none.
	Get(key []byte) ([]byte, error)

	// Scan yields the keys and values in [from, to) in order. Each key and value is valid until
	// the next iteration. Scan stores an error in err.
	Scan(from, to []byte, err *error) iter.Seq2[[]byte, []byte]
}

// A Backend stores the values of a journal: in a directory, for [Create] and [Open], or in
// another database. Only one journal at a time may use a backend.
type Backend interface {
	Values

	// Batch starts a batch of changes.
	Batch() Batch

	// Close closes and seals the backend. The ledger ends at head.
	Close(head Head) error

	// Release releases the backend without sealing it, as if the process had died. After Close
	// or another Release, Release does nothing.
	Release() error
}

// A Fetcher is a [Backend] that can prefetch values. Until the next call of Fetch or Commit,
// Get returns the values of the fetched keys faster.
type Fetcher interface {
	Fetch(keys [][]byte)
}

// A Holder is a [Backend] that another writer can take over if this one stops responding. Held
// returns an error if this process is no longer the writer. In that case, readers could
// receive data that another writer has already changed.
type Holder interface {
	Held() error
}

// A Batch is a set of changes that are applied atomically.
type Batch interface {
	Set(key, value []byte) error
	Delete(key []byte) error

	// Commit makes the changes durable. The ledger then ends at head. After an error it is
	// unknown whether the changes were applied.
	Commit(head Head, w Write) error

	// Close discards the changes if they were not committed.
	Close() error
}

// A Write is the kind of a batch.
type Write uint8

// The kinds of batches.
const (
	WriteGroup    Write = iota // one group
	WriteBalances              // the balances, with the group that they include
	WriteLast                  // like WriteBalances; the ledger is closed afterwards
)
