package owners

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"bourse/bank"
	"bourse/bank/order"
)

// itself is the name of the market in orders to read that are addressed to the bank. The
// maximum validity of such orders is lifetime, in seconds. It is short, because anyone who
// obtains such an order can read with it.
const (
	itself   = "bank"
	lifetime = 60
)

// A Sight describes the parts of a ledger that an account may read.
type Sight struct {
	account string
	number  int64 // number of the market, if the account is a market; -1 otherwise
	all     bool
}

// Sight returns the data that the signed order s permits its sender to read at time now. The
// order must be of kind read, for this ledger and the market "bank". It must be signed with the
// key of its account and expire within a minute. In an open ledger, every sender may read all
// data. In an owned ledger, the operator and accounts with the right read or audit may read all
// data, and other accounts only their own.
func (o *Owners) Sight(s *order.Signed, now float64) (Sight, error) {
	if o.ledger == "" {
		return Sight{all: true, number: -1}, nil
	}
	switch {
	case s == nil:
		return Sight{}, errors.New("the ledger is owned: found no read order")
	case s.Kind != "read" || s.Value("market") != itself:
		return Sight{}, fmt.Errorf("found an order of kind %s for market %q, want one of kind read for %s", s.Kind, s.Value("market"), itself)
	case s.Value("ledger") != o.ledger:
		return Sight{}, fmt.Errorf("found an order for ledger %s, want %s", s.Value("ledger"), o.ledger)
	case now > s.Expires():
		return Sight{}, fmt.Errorf("found an order that expired at %s; the bank's clock is at %s", s.Value("expires"), bank.Instant(now))
	case s.Expires() > now+lifetime:
		return Sight{}, fmt.Errorf("found a read order that expires at %s, want one valid for at most %d s; the bank's clock is at %s", s.Value("expires"), lifetime, bank.Instant(now))
	}
	if err := o.signed(s, now); err != nil {
		return Sight{}, err
	}
	account := s.Value("account")
	return Sight{account: account, number: o.of(account).settle, all: o.Reads(account)}, nil
}

// Reads reports whether an account may read the whole ledger.
func (o *Owners) Reads(account string) bool {
	p := o.of(account)
	return p.read || p.audit || account == operator
}

// Key returns the public key of an account, or "" if it has none.
func (o *Owners) Key(account string) string {
	if !o.has(account) {
		return ""
	}
	return o.of(account).key
}

// Payee reports whether an account is a payee of a market, named without "market:".
func (o *Owners) Payee(account, market string) bool { return o.of(account).payee[market] }

// Having returns the accounts that have the given public key, sorted by name.
func (o *Owners) Having(key string) (all []string) {
	for name := range o.parties {
		if o.Key(name) == key {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// All reports whether everything may be read.
func (v Sight) All() bool { return v.all }

// Escrow reports whether the escrow of a contract, refundable to owner, may be read.
func (v Sight) Escrow(contract int64, owner string) bool {
	return v.all || owner == v.account || v.number >= 0 && contract>>perMarket == v.number
}

// Account reports whether an account may be read.
func (v Sight) Account(name string) bool { return v.all || name == v.account }

// Key reports whether the public key of an account may be read. The account itself may read
// it, and so may markets, which check the signatures of users.
func (v Sight) Key(account string) bool { return v.Account(account) || v.number >= 0 }

// Entry reports whether an entry may be read. The account must have signed the order of the
// entry, own its contract as a market, or be part of one of its moves.
func (v Sight) Entry(e *bank.Entry) bool {
	if v.all || strings.HasPrefix(e.ID, v.account+"/") || e.Contract >= 0 && v.number >= 0 && e.Contract>>perMarket == v.number {
		return true
	}
	for _, m := range e.Moves {
		if m.From == v.account || m.To == v.account {
			return true
		}
	}
	return false
}
