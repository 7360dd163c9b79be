package bank

import "fmt"

// Book books an entry that has names: what a live bank is asked for, or a
// journal says. It gives e its Seq, and checks it as the methods for its kind do;
// a settlement must empty its escrow to the last micro-dollar.
func (l *Ledger) Book(e *Entry) error {
	if err := l.bookEntry(e); err != nil {
		return fmt.Errorf("%v entry %d: %w", e.Kind, l.seq+1, err)
	}
	e.Seq = l.seq
	return nil
}

// Replay books an entry that the journal already has. Seq must be the next.
func (l *Ledger) Replay(e *Entry) error {
	if e.Seq != l.seq+1 {
		return fmt.Errorf("entry %d after entry %d: %w", e.Seq, l.seq, ErrBadEntry)
	}
	j := l.journal
	l.journal = nil
	defer func() { l.journal = j }()
	return l.Book(e)
}

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
	case Owner, Refuse:
		if len(e.Moves) > 0 || e.Contract != NoContract {
			return ErrBadEntry
		}
		return l.commit(e.Time, e.Kind, NoContract, e.ID, e.Note)
	}
	return ErrBadEntry
}

func (l *Ledger) bookTransfer(e *Entry) error {
	if e.Contract != NoContract {
		return ErrBadContract
	}
	if err := l.bookMoves(e); err != nil {
		return err
	}
	for _, p := range l.booking {
		if (p.From == issuer) != (e.Kind == Issue) || p.To == issuer {
			return ErrBadAccount
		}
	}
	return l.commit(e.Time, e.Kind, NoContract, e.ID, e.Note)
}

// bookMoves books what e moves between named accounts.
func (l *Ledger) bookMoves(e *Entry) error {
	if len(e.Moves) == 0 || len(e.Moves) > MaxMoves {
		return ErrBadEntry
	}
	for _, m := range e.Moves {
		from, ok := l.byName[m.From]
		if !ok { // no account is made for a payer that is nobody
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

func (l *Ledger) bookSettle(e *Entry) error {
	escrow, ok := l.contracts.escrow(e.Contract)
	if !ok {
		return ErrNoEscrow
	}
	rest := l.accounts[escrow].balance
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
	if rest != 0 {
		return fmt.Errorf("%v left in escrow: %w", Amount{rest}, ErrBadEntry)
	}
	if err := l.commit(e.Time, Settle, e.Contract, e.ID, e.Note); err != nil {
		return err
	}
	l.drop(e.Contract, escrow)
	return nil
}

// CheckID tells whether s may be the id of a request: empty, or up to 64
// printable ASCII bytes without space or quote.
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
