package bank

import "fmt"

// A Payment is the amount that one account receives from a contract's escrow.
type Payment struct {
	To     Account
	Amount Amount // at least 0; a payment of 0 is not recorded
}

// Hold moves the amount a from owner into a new escrow for contract. The money is set aside
// when the contract is admitted, so that it covers every later charge. The contract must not
// have been admitted before. Hold returns a [*Shortfall] if owner has less than a.
func (l *Ledger) Hold(now float64, contract int64, owner Account, a Amount, note []byte) error {
	err := l.begin(now)
	if err == nil {
		err = l.hold(now, contract, owner, a, "", note)
	}
	if err != nil {
		return fmt.Errorf("hold contract %d: %w", contract, err)
	}
	return nil
}

// hold implements Hold, with a request ID.
func (l *Ledger) hold(now float64, contract int64, owner Account, a Amount, id string, note []byte) error {
	// Check the number before anything changes.
	if contract < 0 || contract > MaxContract {
		return ErrBadContract
	}
	if l.contracts.has(contract) {
		return ErrUsedContract
	}
	if err := l.named(owner); err != nil {
		return err
	}
	// The contract counts as admitted only when the entry is in the journal. A refused request
	// can therefore be repeated with the same number.
	escrow := l.open(contract, owner)
	l.book(owner, escrow, a)
	if err := l.commit(now, Admit, contract, id, note); err != nil {
		l.drop(contract, escrow)
		return err
	}
	l.contracts.admit(contract)
	return nil
}

// open creates an escrow for contract. It reuses the row of a closed escrow if there is one.
func (l *Ledger) open(contract int64, owner Account) Account {
	// Rows of closed escrows are reused. The number of rows is therefore the maximum number of
	// contracts that were open at the same time.
	row := account{contract: contract, owner: owner}
	var a Account
	if n := len(l.free); n > 0 {
		a, l.free = l.free[n-1], l.free[:n-1]
		l.accounts[a] = row
	} else {
		a = l.add(row)
	}
	l.contracts.open(contract, a)
	return a
}

// drop closes the escrow a of contract and frees its row.
func (l *Ledger) drop(contract int64, a Account) {
	l.contracts.close(contract)
	l.accounts[a] = account{contract: NoContract}
	l.free = append(l.free, a)
}

// Adjust changes the amount in the escrow of contract to budget. The contract's owner pays the
// difference or receives it. Adjust returns an error wrapping [ErrNoEscrow] if the contract
// has no open escrow, and a [*Shortfall] if the owner has less than the difference. For
// example, a budget of 7 $ for a contract with 10 $ in escrow returns 3 $.
func (l *Ledger) Adjust(now float64, contract int64, budget Amount, note []byte) error {
	err := l.begin(now)
	if err == nil {
		if escrow, ok := l.contracts.escrow(contract); ok {
			err = l.adjust(now, contract, escrow, budget, "", note)
		} else {
			err = ErrNoEscrow
		}
	}
	if err != nil {
		return fmt.Errorf("adjust contract %d: %w", contract, err)
	}
	return nil
}

// adjust implements Adjust, with a request ID.
func (l *Ledger) adjust(now float64, contract int64, escrow Account, budget Amount, id string, note []byte) error {
	if budget.micros <= 0 { // an open escrow is never empty
		return fmt.Errorf("a budget of %v: %w", budget, ErrBadAmount)
	}
	row := l.accounts[escrow]
	if more := budget.micros - row.balance; more > 0 {
		l.book(row.owner, escrow, Amount{more})
	} else if more < 0 {
		l.book(escrow, row.owner, Amount{-more})
	}
	return l.commit(now, Adjust, contract, id, note)
}

// Settle pays the payees from the escrow of contract, in order, and returns the remainder to
// the contract's owner. All moves are part of one entry. Afterwards the escrow is closed. For
// example, with an escrow of 10 $ and payments of 4 and 3 $, the owner receives 3 $.
//
// The result refund is the amount returned to the owner. Settle returns an error wrapping
// [ErrNoEscrow] if the contract has no open escrow, and a [*Shortfall] if the payments exceed
// the escrow.
func (l *Ledger) Settle(now float64, contract int64, pay []Payment, note []byte) (refund Amount, err error) {
	if err = l.begin(now); err == nil {
		refund, err = l.settle(now, contract, pay, note)
	}
	if err != nil {
		return Amount{}, fmt.Errorf("settle contract %d: %w", contract, err)
	}
	return refund, nil
}

// settle implements Settle.
func (l *Ledger) settle(now float64, contract int64, pay []Payment, note []byte) (Amount, error) {
	escrow, ok := l.contracts.escrow(contract)
	if !ok {
		return Amount{}, ErrNoEscrow
	}
	row := l.accounts[escrow]
	rest := row.balance
	// Check each payment against the amount that the earlier payments have left.
	for i := range pay {
		p := &pay[i]
		switch {
		case p.Amount.micros == 0:
			continue
		case p.Amount.micros < 0:
			return Amount{}, fmt.Errorf("%v to %s: %w", p.Amount, l.Name(p.To), ErrBadAmount)
		case p.Amount.micros > rest:
			return Amount{}, l.short(row, pay)
		}
		if !l.isNamed(p.To) {
			return Amount{}, l.named(p.To)
		}
		l.book(escrow, p.To, p.Amount)
		rest -= p.Amount.micros
	}
	// The same entry returns the remainder, so an ended contract never holds money.
	if rest > 0 {
		l.book(escrow, row.owner, Amount{rest})
	}
	if err := l.commit(now, Settle, contract, "", note); err != nil {
		return Amount{}, err
	}
	l.drop(contract, escrow)
	return Amount{rest}, nil
}

// short returns the error for payments that exceed an escrow.
func (l *Ledger) short(escrow account, pay []Payment) error {
	var sum Amount
	for _, p := range pay {
		if s, err := sum.Add(p.Amount); err == nil {
			sum = s
		}
	}
	return &Shortfall{EscrowName(escrow.contract), Amount{escrow.balance}, sum}
}

// A Debit is an amount that an account must pay. If its balance is lower, it pays its whole
// balance.
type Debit struct {
	From Account
	Most Amount
}

// Penalty pays compensation for a broken promise of contract. The account passed as to
// receives it. Each debited account pays its part, or its balance if that is lower. An account
// is never overdrawn, so paid can be less than the amount owed. If nothing is paid, Penalty
// makes no entry.
func (l *Ledger) Penalty(now float64, contract int64, from []Debit, to Account, note []byte) (paid Amount, err error) {
	if err = l.begin(now); err == nil {
		known := l.contracts.has(contract)
		for _, d := range from {
			has := l.Balance(d.From)
			for i := range l.booking { // subtract the amounts that earlier parts of this entry withdraw from the account
				if l.booking[i].From == d.From {
					has, _ = has.Sub(l.booking[i].Amount)
				}
			}
			part := d.Most
			if has.Cmp(part) < 0 {
				part = has
			}
			if part.Sign() == 0 && d.Most.Sign() > 0 && l.isNamed(d.From) {
				continue
			}
			l.book(d.From, to, part)
			if paid, err = paid.Add(part); err != nil {
				return Amount{}, fmt.Errorf("penalty of contract %d: %w", contract, err)
			}
		}
		if known && len(l.booking) == 0 && len(from) > 0 {
			return paid, nil
		}
		err = l.penalty(now, contract, "", note)
	}
	if err != nil {
		return Amount{}, fmt.Errorf("penalty of contract %d: %w", contract, err)
	}
	return paid, nil
}

// penalty commits the booked postings as the penalty of contract.
func (l *Ledger) penalty(now float64, contract int64, id string, note []byte) error {
	if !l.contracts.has(contract) {
		return ErrBadContract
	}
	for _, p := range l.booking {
		if err := l.named(p.From, p.To); err != nil {
			return err
		}
	}
	return l.commit(now, Penalty, contract, id, note)
}

// Reject records that contract was rejected; the note states why. No money moves.
func (l *Ledger) Reject(now float64, contract int64, note []byte) error {
	err := l.begin(now)
	if err == nil {
		err = l.reject(now, contract, "", note)
	}
	if err != nil {
		return fmt.Errorf("reject contract %d: %w", contract, err)
	}
	return nil
}

// reject implements Reject, with a request ID.
func (l *Ledger) reject(now float64, contract int64, id string, note []byte) error {
	if contract < 0 || contract > MaxContract {
		return ErrBadContract
	}
	return l.commit(now, Reject, contract, id, note)
}

// Record appends a note that moves no money: the result of an auction clearing (kind
// [Cleared], for [NoContract]), or a change to an open contract (kind [Moved]).
func (l *Ledger) Record(now float64, kind Kind, contract int64, note []byte) error {
	err := l.begin(now)
	if err == nil {
		err = l.recordOf(now, kind, contract, "", note)
	}
	if err != nil {
		return fmt.Errorf("record of contract %d: %w", contract, err)
	}
	return nil
}

// recordOf implements Record, with a request ID.
func (l *Ledger) recordOf(now float64, kind Kind, contract int64, id string, note []byte) error {
	if kind != Cleared && kind != Moved || (kind == Cleared) != (contract == NoContract) {
		return ErrBadEntry
	}
	if kind == Moved {
		if _, open := l.contracts.escrow(contract); !open {
			return ErrNoEscrow
		}
	}
	return l.commit(now, kind, contract, id, note)
}
