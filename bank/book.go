package bank

import "fmt"

// Book books an entry that uses account names, such as a request to a live bank or an entry of
// a journal. It sets e.Seq. It checks the entry in the same way as the method for its kind. A
// settlement must empty the escrow to the last micro-dollar.
func (l *Ledger) Book(e *Entry) error {
	if err := l.bookEntry(e); err != nil {
		return fmt.Errorf("%v entry %d: %w", e.Kind, l.seq+1, err)
	}
	e.Seq = l.seq
	return nil
}

// Replay books an entry that is already in the journal, without appending it again. The field
// e.Seq must be the next number.
func (l *Ledger) Replay(e *Entry) error {
	if e.Seq != l.seq+1 {
		return fmt.Errorf("entry %d after entry %d: %w", e.Seq, l.seq, ErrBadEntry)
	}
	// The journal already holds the entry, so Book must not append it again.
	j := l.journal
	l.journal = nil
	defer func() { l.journal = j }()
	return l.Book(e)
}

// bookEntry checks e and books it according to its kind.
func (l *Ledger) bookEntry(e *Entry) error {
	if err := l.begin(e.Time); err != nil {
		return err
	}
	if err := CheckID(e.ID); err != nil {
		return err
	}
	switch e.Kind {
	case Issue, Transfer:
		return l.bookTransfer(e)
	case Admit:
		return l.bookAdmit(e)
	case Settle:
		return l.bookSettle(e)
	case Penalty:
		if err := l.bookMoves(e); err != nil {
			return err
		}
		return l.penalty(e.Time, e.Contract, e.ID, e.Note)
	case Reject:
		if len(e.Moves) > 0 {
			return ErrBadEntry
		}
		return l.reject(e.Time, e.Contract, e.ID, e.Note)
	case Cleared, Moved:
		if len(e.Moves) > 0 {
			return ErrBadEntry
		}
		return l.recordOf(e.Time, e.Kind, e.Contract, e.ID, e.Note)
	case Adjust:
		return l.bookAdjust(e)
	case Owner, Refuse:
		if len(e.Moves) > 0 || e.Contract != NoContract {
			return ErrBadEntry
		}
		return l.commit(e.Time, e.Kind, NoContract, e.ID, e.Note)
	}
	return ErrBadEntry
}

// bookTransfer books an issue or a transfer. Only an issue may take money from the mint, and
// no entry may return money to it.
func (l *Ledger) bookTransfer(e *Entry) error {
	if e.Contract != NoContract {
		return ErrBadContract
	}
	if err := l.bookMoves(e); err != nil {
		return err
	}
	// All moves of an issue must come from the mint, and no move of a transfer may.
	for _, p := range l.booking {
		if (p.From == issuer) != (e.Kind == Issue) || p.To == issuer {
			return ErrBadAccount
		}
	}
	return l.commit(e.Time, e.Kind, NoContract, e.ID, e.Note)
}

// bookMoves adds the moves of e, between named accounts, to the entry in progress.
func (l *Ledger) bookMoves(e *Entry) error {
	if len(e.Moves) == 0 || len(e.Moves) > MaxMoves {
		return ErrBadEntry
	}
	for _, m := range e.Moves {
		from, ok := l.byName[m.From]
		if !ok { // do not create an account for an unknown payer
			return &Shortfall{m.From, Amount{}, m.Amount}
		}
		to, err := l.Account(m.To)
		if err != nil {
			return err
		}
		l.book(from, to, m.Amount)
	}
	return nil
}

// bookAdmit books an admission: one move from the owner to the contract's escrow.
func (l *Ledger) bookAdmit(e *Entry) error {
	if len(e.Moves) != 1 || e.Moves[0].To != EscrowName(e.Contract) {
		return ErrBadEntry
	}
	m := e.Moves[0]
	owner, ok := l.byName[m.From]
	if !ok {
		return &Shortfall{m.From, Amount{}, m.Amount}
	}
	return l.hold(e.Time, e.Contract, owner, m.Amount, e.ID, e.Note)
}

// bookSettle books a settlement: the moves must pay out exactly the contract's escrow.
func (l *Ledger) bookSettle(e *Entry) error {
	escrow, ok := l.contracts.escrow(e.Contract)
	if !ok {
		return ErrNoEscrow
	}
	rest := l.accounts[escrow].balance
	// The order of the moves is part of the entry. Each move must come from this contract's
	// escrow.
	for _, m := range e.Moves {
		to, err := l.Account(m.To)
		if err != nil {
			return err
		}
		if err := l.named(to); err != nil {
			return err
		}
		if m.From != l.called(escrow) {
			return ErrBadEntry
		}
		l.book(escrow, to, m.Amount)
		rest -= m.Amount.micros
	}
	// A settlement closes the escrow, so any money left in it would be lost.
	if rest != 0 {
		return fmt.Errorf("%v left in escrow: %w", Amount{rest}, ErrBadEntry)
	}
	if err := l.commit(e.Time, Settle, e.Contract, e.ID, e.Note); err != nil {
		return err
	}
	l.drop(e.Contract, escrow)
	return nil
}

// bookAdjust books a change to a budget: at most one move, between the contract's owner and its
// escrow.
func (l *Ledger) bookAdjust(e *Entry) error {
	escrow, ok := l.contracts.escrow(e.Contract)
	if !ok {
		return ErrNoEscrow
	}
	if len(e.Moves) == 0 {
		return l.adjust(e.Time, e.Contract, escrow, Amount{l.accounts[escrow].balance}, e.ID, e.Note)
	}
	m, owner, name := e.Moves[0], l.called(l.accounts[escrow].owner), l.called(escrow)
	budget := Amount{l.accounts[escrow].balance}
	var err error
	switch {
	case len(e.Moves) > 1 || m.Amount.micros <= 0:
		return ErrBadEntry
	case m.From == owner && m.To == name:
		budget, err = budget.Add(m.Amount)
	case m.From == name && m.To == owner:
		budget, err = budget.Sub(m.Amount)
	default:
		return ErrBadEntry
	}
	if err != nil {
		return err
	}
	return l.adjust(e.Time, e.Contract, escrow, budget, e.ID, e.Note)
}

// CheckID returns an error unless s can be the ID of a request: empty, or up to 64 printable
// ASCII bytes without spaces or quotes.
func CheckID(s string) error {
	if len(s) > MaxID {
		return fmt.Errorf("id %q…: longer than %d bytes: %w", s[:MaxID], MaxID, ErrBadEntry)
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' || s[i] == '"' || s[i] == '\'' {
			return fmt.Errorf("id %q: want printable ASCII without space or quotes: %w", s, ErrBadEntry)
		}
	}
	return nil
}
