package outside

import (
	"fmt"
	"math"
	"strings"

	"bourse/contracts"
	"bourse/contracts/note"
)

// maxNumbers is the maximum number of numbers in an answer if only processors have prices.
// Each other resource with a price allows perPriced more numbers.
const (
	maxNumbers = 16
	perPriced  = 5
)

// checkNumber returns an error unless n can be part of a note. The argument seen contains the
// names of the previous numbers.
func checkNumber(n *contracts.Number, seen map[string]bool) error {
	name, x := n.Value()
	switch {
	case !validName(name):
		return fmt.Errorf("found a number with the name %q, want a letter of a-z, then at most 31 of a-z, 0-9 and _", clip(name))
	case note.Reserved(name):
		return fmt.Errorf("found a number with the name %s, which notes of the ledger use themselves; want another name", name)
	case seen[name]:
		return fmt.Errorf("found two numbers with the name %s", name)
	case math.IsNaN(x) || math.IsInf(x, 0):
		return fmt.Errorf("the number %s is %v, want a finite number", name, x)
	}
	seen[name] = true
	return nil
}

func validName(s string) bool {
	return s != "" && len(s) <= 32 && s[0] >= 'a' && s[0] <= 'z' && only(s, "_")
}

func validReason(s string) bool { return s != "" && len(s) <= 60 && only(s, " ,.-:_") }

// only reports whether s consists of lower-case letters, digits and the characters in others.
func only(s, others string) bool {
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return true
}

// clip shortens s so that it fits into a message.
func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}
