package bank

import (
	"errors"
	"fmt"
)

// These are the reasons for which a ledger refuses a request. Errors wrap one of these reasons
// and name the account or contract concerned. A refused request moves no money.
var (
	ErrInsufficientFunds = errors.New("insufficient funds") // returned as a *Shortfall
	ErrBadAmount         = errors.New("amount is not positive")
	ErrBadAccount        = errors.New("no such account, or it cannot be used for this purpose")
	ErrNoEscrow          = errors.New("contract holds no escrow")
	ErrUsedContract      = errors.New("contract was already admitted")
	ErrBadContract       = errors.New("contract number is out of range, or was never admitted")
	ErrBadTime           = errors.New("instant is not finite, or before the last entry")
	ErrBadEntry          = errors.New("entry is not well formed")
	ErrRefused           = errors.New("refused") // the owners of the ledger have not authorized the request
)

// A Shortfall is an [ErrInsufficientFunds]: Account has less than it needs.
type Shortfall struct {
	Account    string
	Has, Needs Amount
}

// Error states both amounts.
func (s *Shortfall) Error() string {
	return fmt.Sprintf("%s has %v, needs %v: %v", s.Account, s.Has, s.Needs, ErrInsufficientFunds)
}

// Unwrap returns ErrInsufficientFunds.
func (s *Shortfall) Unwrap() error { return ErrInsufficientFunds }
