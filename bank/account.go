package bank

import (
	"fmt"
	"strconv"
	"strings"
)

// An Account is the number of an account in one ledger. Numbers are small, and
// mean nothing to another ledger.
type Account int32

// issuer is the account named "mint", from which money comes. Its balance is
// minus what it issued.
const issuer Account = 0

const (
	issuerName = "mint"
	escrowWord = "escrow"
	maxName    = 64 // bytes
)

// account is a row of the ledger. An escrow is a row that is used again once
// its contract is settled.
type account struct {
	balance  int64 // micro-dollars
	contract int64 // of an escrow, else NoContract
	owner    Account
	name     string // empty for an escrow, until a journal needs it
}

// CheckName tells whether s may name an account: a word of lower-case letters,
// then any number of parts of letters, digits, '.', '_' and '-' that begin with a
// letter or digit, each after a colon; 64 bytes in all: "user:7", "host:h03.rack-2",
// "provider".
func CheckName(s string) error {
	if len(s) > maxName {
		return fmt.Errorf("account %q…: longer than %d bytes", s[:maxName], maxName)
	}
	if !isName(s) {
		return fmt.Errorf("account %q: want a lower-case word and parts after colons, such as user:7", s)
	}
	return nil
}

func isName(s string) bool {
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

// reserved tells whether s begins with the word kept for escrows.
func reserved(s string) bool {
	n := len(escrowWord)
	return len(s) >= n && s[:n] == escrowWord && (len(s) == n || s[n] == ':')
}

// EscrowName returns the name of the account that holds the budget of a
// contract while it runs: "escrow:17".
func EscrowName(contract int64) string { return escrowWord + ":" + strconv.FormatInt(contract, 10) }

// EscrowContract returns the contract whose escrow is called name.
func EscrowContract(name string) (int64, error) {
	s, _ := strings.CutPrefix(name, escrowWord+":")
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > MaxContract || EscrowName(n) != name {
		return 0, fmt.Errorf("account %q: want %s:17 or the like: %w", name, escrowWord, ErrBadAccount)
	}
	return n, nil
}

// IsEscrow tells whether name is that of an escrow.
func IsEscrow(name string) bool { return reserved(name) }
