package bank

import (
	"fmt"
	"time"
)

// A Kind says why an entry was made.
type Kind uint8

// The kinds of entries, in the order of a contract's life (spec §8).
const (
	Issue    Kind = iota + 1 // mint to an account
	Admit                    // owner to escrow
	Reject                   // a record; nothing moves
	Settle                   // escrow to payees, and what is left to the owner
	Penalty                  // what a broken promise costs its giver
	Transfer                 // account to account, for any other reason
	Owner                    // a record of who owns an account, or may do what; nothing moves
	Refuse                   // a record that the ledger refused a signed order, which uses up its id; nothing moves
)

var kinds = [...]string{Issue: "issue", Admit: "admit", Reject: "reject", Settle: "settle", Penalty: "penalty", Transfer: "transfer", Owner: "owner", Refuse: "refuse"}

// String returns the word that the journal has for k.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kinds) {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kinds[k]
}

// parseKind reads what [Kind.String] writes.
func parseKind(s string) (Kind, error) {
	for k, name := range kinds {
		if name == s && k > 0 {
			return Kind(k), nil
		}
	}
	return 0, fmt.Errorf("kind %q: want one of %v", s, kinds[1:])
}

// MarshalText returns what [Kind.String] does.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what parseKind does.
func (k *Kind) UnmarshalText(b []byte) (err error) {
	*k, err = parseKind(string(b))
	return err
}

// NoContract stands where an entry concerns none.
const NoContract = -1

// Bounds of what an entry may carry.
const (
	MaxContract = 1 << 53 // the largest that JSON readers agree on
	MaxNote     = 4096    // bytes of a note
	MaxID       = 64      // bytes of a request's id
	MaxMoves    = 1 << 16 // moves of one entry
)

// Epoch is the date that second 0 has where instants are dates: in orders, exports, and the
// ledgers of banks and markets on real time.
var Epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// An Entry is one line of the journal: what moved together, and why. Escrow
// accounts are named by [EscrowName]; no entry touches the escrow of a contract
// but its own.
type Entry struct {
	Seq      int64   // place in the journal, from 1
	Time     float64 // seconds since the run's origin, never before the entry before
	Kind     Kind
	Contract int64  // or NoContract
	ID       string // of the request that asked for it, if it had one
	Moves    []Move // in the order in which they are booked
	Note     []byte // what decided, for people and audits; the bank does not read it
}

// A Move takes Amount, which is positive, from one account to another.
type Move struct {
	From, To string
	Amount   Amount
}

// A Journal is the ordered record that a ledger adds up.
type Journal interface {
	// Append adds e, whose Seq is one above the last. What e refers to may be
	// used during the call only. After an error nothing has been added.
	Append(e *Entry) error
}
