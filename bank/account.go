package bank

import (
	"fmt"
	"strconv"
	"strings"
)

// An Account is the number of an account within one ledger. Numbers are small and consecutive,
// so that a ledger can store balances in a slice. The numbers have no meaning in another
// ledger.
type Account int32

// issuer is the account named "mint", the source of all money. Its balance is minus the amount
// it has issued.
const issuer Account = 0

// Constants of account names.
const (
	issuerName = "mint"
	escrowWord = "escrow"
	maxName    = 64 // maximum length in bytes
)

// account is a row of the ledger. The row of an escrow is reused after its contract is
// settled.
type account struct {
	balance  int64 // micro-dollars
	contract int64 // contract of an escrow; NoContract for other accounts
	owner    Account
	name     string // name of the account; for an escrow, empty until a journal needs the name
}

// CheckName returns an error if s is not a valid account name. A name starts with a word of
// lower-case letters. Any number of parts may follow, each after a colon. A part consists of
// letters, digits, '.', '_' and '-', and starts with a letter or digit. The whole name has at
// most 64 bytes. Examples are "user:7", "host:h03.rack-2" and "provider".
func CheckName(s string) error {
	if len(s) > maxName {
		return fmt.Errorf("account %q…: longer than %d bytes", s[:maxName], maxName)
	}
	if !isName(s) {
		return fmt.Errorf("account %q: want a lower-case word and parts after colons, such as user:7", s)
	}
	return nil
}

// isName reports whether s follows the grammar described in CheckName.
func isName(s string) bool {
	// These are the states: in the first word, at the start of a later part, and within a later
	// part.
	const (
		word = iota
		start
		part
	)
	state := word
	for i := range len(s) {
		c := s[i]
		lower := 'a' <= c && c <= 'z'
		alnum := lower || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		switch {
		case c == ':' && i > 0 && state != start:
			state = start
		case state == word && lower:
		case state == start && alnum:
			state = part
		case state == part && (alnum || c == '.' || c == '_' || c == '-'):
		default:
			return false
		}
	}
	return s != "" && state != start
}

// reserved reports whether s starts with the word reserved for escrows.
func reserved(s string) bool {
	n := len(escrowWord)
	return len(s) >= n && s[:n] == escrowWord && (len(s) == n || s[n] == ':')
}

// EscrowName returns the name of the account that holds the budget of a contract while it
// runs, such as "escrow:17".
func EscrowName(contract int64) string { return escrowWord + ":" + strconv.FormatInt(contract, 10) }

// EscrowContract returns the contract whose escrow has the given name. It fails for a name
// that [EscrowName] would not return.
func EscrowContract(name string) (int64, error) {
	s, _ := strings.CutPrefix(name, escrowWord+":")
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > MaxContract || EscrowName(n) != name {
		return 0, fmt.Errorf("account %q: want an account such as %s:17: %w", name, escrowWord, ErrBadAccount)
	}
	return n, nil
}

// IsEscrow reports whether name is reserved for escrows.
func IsEscrow(name string) bool { return reserved(name) }
