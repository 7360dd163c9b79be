package store

import (
	"fmt"
	"strings"

	"bourse/bank"
	"bourse/bank/owners"
)

// twins maps lower-case names to account names that contain capital letters. An account must
// not be opened if its name differs from the name of another account only in capitals, because
// people would confuse the two. Existing accounts with such names are preserved.
type twins map[string]string

// newTwins returns the twins of a ledger.
func (j *Journal) newTwins(l *bank.Ledger) twins {
	t := make(twins)
	for name := range l.Balances() {
		t.add(name)
	}
	for name := range j.owners.Names() {
		t.add(name)
	}
	return t
}

func (t twins) add(name string) {
	if lower := strings.ToLower(name); lower != name && t[lower] == "" {
		t[lower] = name
	}
}

// check returns an error if e would open an account whose name differs from an existing name
// only in capitals.
func (t twins) check(e *bank.Entry, signed *owners.Signed, known func(string) bool) (err error) {
	owners.Opens(e, signed, func(name string) bool {
		if known(name) {
			return true
		}
		lower := strings.ToLower(name)
		twin := t[lower]
		if lower != name && known(lower) {
			twin = lower
		}
		if twin != "" && twin != name {
			err = fmt.Errorf("account %s: found %s, whose name differs only in case: %w", name, twin, bank.ErrBadAccount)
		}
		return err == nil
	})
	return err
}

// opened adds the accounts that e has opened.
func (t twins) opened(e *bank.Entry, signed *owners.Signed) {
	owners.Opens(e, signed, func(name string) bool {
		t.add(name)
		return true
	})
}

// known reports whether an account exists.
func (s *Sequencer) known(name string) bool {
	_, ok := s.ledger.Lookup(name)
	return ok || s.journal.owners.Known(name)
}
