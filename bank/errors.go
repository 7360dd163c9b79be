package bank

import (
	"errors"
	"fmt"
)

// What a ledger refuses, wrapped with the account or contract concerned.
// Whatever is refused, nothing has moved.
var (
	ErrInsufficientFunds = errors.New("insufficient funds") // as a shortfall, which says both figures
	ErrBadAmount         = errors.New("amount is not positive")
	ErrBadAccount        = errors.New("no such account, or not for this purpose")
	ErrNoEscrow          = errors.New("contract holds no escrow")
	ErrUsedContract      = errors.New("contract was admitted before")
	ErrBadContract       = errors.New("contract number is out of range, or was never admitted")
	ErrBadTime           = errors.New("instant is not finite, or before the last entry")
	ErrBadEntry          = errors.New("entry is not well formed")
)

// A shortfall is an [ErrInsufficientFunds]: Account has less than it needs.
type shortfall struct {
	Account    string
	Has, Needs Amount
}

func (s *shortfall) Error() string {
	return fmt.Sprintf("%s has %v, needs %v: %v", s.Account, s.Has, s.Needs, ErrInsufficientFunds)
}

func (s *shortfall) Unwrap() error { return ErrInsufficientFunds }
