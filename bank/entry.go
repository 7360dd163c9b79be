package bank

import (
	"fmt"
	"time"
)

// A Kind states why an entry was made.
type Kind uint8

// These are the kinds of entries, in the order in which they occur in a contract's life (spec
// §8).
const (
	Issue    Kind = iota + 1 // a move from the mint to an account
	Admit                    // a move from the owner to the escrow
	Reject                   // a record of a rejection; no money moves
	Settle                   // moves from the escrow to the payees, and of the remainder to the owner
	Penalty                  // compensation for a broken promise
	Transfer                 // moves between accounts for any other reason
	Owner                    // a record of the owner of an account or a right; no money moves
	Refuse                   // a record of a refused signed order, which uses up the ID of the order; no money moves
	Cleared                  // a record of the result of an auction clearing; no money moves
	Moved                    // a record of the hosts on which an open contract runs from then on; no money moves
	Adjust                   // a move between the owner and the escrow of an open contract whose budget changes
)

// kinds are the names of the kinds in journals. They are part of the format and must not
// change.
var kinds = [...]string{Issue: "issue", Admit: "admit", Reject: "reject", Settle: "settle", Penalty: "penalty", Transfer: "transfer", Owner: "owner", Refuse: "refuse", Cleared: "clear", Moved: "move", Adjust: "adjust"}

// String returns the word for k in the journal.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kinds) {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kinds[k]
}

// parseKind parses the result of [Kind.String].
func parseKind(s string) (Kind, error) {
	for k, name := range kinds {
		if name == s && k > 0 {
			return Kind(k), nil
		}
	}
	return 0, fmt.Errorf("kind %q: want one of %v", s, kinds[1:])
}

// MarshalText returns the result of [Kind.String].
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText parses text as parseKind does.
func (k *Kind) UnmarshalText(b []byte) (err error) {
	*k, err = parseKind(string(b))
	return err
}

// NoContract is the contract number of an entry that concerns no contract.
const NoContract = -1

// Limits of an entry.
const (
	MaxContract = 1 << 53 // largest integer that all JSON readers represent exactly
	MaxNote     = 4096    // maximum number of bytes of a note
	MaxID       = 64      // maximum number of bytes in the ID of a request
	MaxMoves    = 1 << 16 // maximum number of moves of an entry
)

// Epoch is the date of second 0 wherever times are shown as dates: in orders, in exports, and
// in the ledgers of banks and markets that run in real time.
var Epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Instant formats a time, in seconds since [Epoch], in the form of orders: in UTC, rounded down to
// a full second.
func Instant(at float64) string {
	if !(at >= 0 && at < 9e9) { // outside the range of time.Duration
		return fmt.Sprintf("second %v", at)
	}
	return Epoch.Add(time.Duration(at) * time.Second).Format(time.RFC3339)
}

// An Entry is one line of the journal. It contains the moves that happen together, all or
// none, and the reason for them. Escrow accounts are named by [EscrowName]; an entry never
// touches the escrow of another contract.
type Entry struct {
	Seq      int64   // position in the journal, from 1
	Time     float64 // seconds since the start of the run; never earlier than the previous entry
	Kind     Kind
	Contract int64  // number of the contract, or NoContract
	ID       string // ID of the request that caused the entry, if it had one
	Moves    []Move // moves, in the order in which they are booked
	Note     []byte // reason for the entry, for people and audits; the bank does not read it
}

// A Move transfers Amount, which must be positive, from one account to another.
type Move struct {
	From, To string
	Amount   Amount
}

// A Journal is the ordered record of all entries. The state of a ledger is the sum of its
// journal, so it can be rebuilt from the journal.
type Journal interface {
	// Append adds e, whose Seq must be one above the Seq of the last entry. The journal may
	// access the memory that e refers to only during the call. If Append returns an error,
	// nothing has been added.
	Append(e *Entry) error
}
