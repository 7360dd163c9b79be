package bank

import (
	"fmt"
	"iter"
)

// A Holding is the balance of one account, as stored in a journal.
type Holding struct {
	Name    string
	Balance Amount
	Owner   string // for an escrow, the account that receives the remainder; empty for other accounts
}

// Restore sets l, which must be new, to the state after entry seq at time now. It is given the
// balances of the accounts, and the contracts admitted until then. A bank uses Restore to open
// a large journal without replaying all its entries. It returns an error if the balances do not
// add up to zero or if an account is overdrawn.
func (l *Ledger) Restore(seq int64, now float64, holdings []Holding, admitted iter.Seq[int64]) error {
	var sum Amount
	// Restore ordinary accounts first, because an escrow refers to its owner.
	for _, s := range holdings {
		if IsEscrow(s.Name) {
			continue // escrows are restored below, when all owners are known
		}
		a, err := l.Account(s.Name)
		if err != nil {
			return fmt.Errorf("restore: %w", err)
		}
		if s.Balance.Sign() < 0 && a != issuer {
			return fmt.Errorf("restore %s with %v: %w", s.Name, s.Balance, ErrBadAmount)
		}
		l.accounts[a].balance = s.Balance.micros
	}
	for _, s := range holdings {
		if IsEscrow(s.Name) {
			if err := l.restoreEscrow(s); err != nil {
				return fmt.Errorf("restore %s: %w", s.Name, err)
			}
		}
		var err error
		if sum, err = sum.Add(s.Balance); err != nil {
			return fmt.Errorf("restore %s: %w", s.Name, err)
		}
	}
	// The balances of a complete ledger add up to zero, because the balance of the mint is
	// minus the amount issued.
	if sum.Sign() != 0 {
		return fmt.Errorf("restore: balances sum to %v: %w", sum, ErrBadAmount)
	}
	for n := range admitted {
		l.contracts.admit(n)
	}
	l.seq, l.now = seq, now
	return nil
}

// restoreEscrow opens the escrow described by s.
func (l *Ledger) restoreEscrow(s Holding) error {
	contract, err := EscrowContract(s.Name)
	if err != nil {
		return err
	}
	owner, ok := l.byName[s.Owner]
	if !ok {
		return fmt.Errorf("owner %q: %w", s.Owner, ErrBadAccount)
	}
	if s.Balance.Sign() <= 0 {
		return ErrBadAmount
	}
	l.accounts[l.open(contract, owner)].balance = s.Balance.micros
	return nil
}
