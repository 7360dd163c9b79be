package bank

import (
	"fmt"
	"iter"
	"math"
)

// A Ledger holds the balance of every account and the escrow of every open contract. It checks
// every entry before it moves money, and books an entry completely or not at all.
//
// It is not safe for concurrent use: one goroutine must own it.
type Ledger struct {
	journal   Journal
	seq       int64
	now       float64
	accounts  []account
	byName    map[string]Account
	free      []Account // rows of closed escrows
	contracts numbers

	booking []Posting // scratch memory: the postings of the entry in progress
	entry   Entry     // scratch memory
}

// New returns an empty ledger that appends its entries to j, which must be empty too. If j is
// nil, nothing is recorded or formatted. A nil journal is intended for simulated replications,
// in which speed matters and nobody reads the journal.
func New(j Journal) *Ledger {
	l := &Ledger{byName: make(map[string]Account), contracts: newNumbers()}
	l.add(account{contract: NoContract, name: issuerName})
	l.byName[issuerName] = issuer
	l.Reset(j)
	return l
}

// Reset removes all money, contracts and entries, and continues with journal j. Accounts keep
// their numbers.
func (l *Ledger) Reset(j Journal) {
	l.journal, l.seq, l.now = j, 0, 0
	// Open escrows are closed. Other accounts remain, with a balance of 0.
	for i := range l.accounts {
		if row := &l.accounts[i]; row.contract != NoContract {
			l.drop(row.contract, Account(i))
		} else {
			row.balance = 0
		}
	}
	l.contracts.clear()
}

// Lookup returns the number of the account called name, and whether it exists.
func (l *Ledger) Lookup(name string) (Account, bool) {
	a, ok := l.byName[name]
	return a, ok
}

// Account returns the number of the account called name. It creates the account if necessary.
// It returns an error if [CheckName] rejects name or if name is reserved for escrows.
func (l *Ledger) Account(name string) (Account, error) {
	if a, ok := l.byName[name]; ok {
		return a, nil
	}
	if err := CheckName(name); err != nil {
		return 0, err
	}
	if reserved(name) {
		return 0, fmt.Errorf("account %q: %q is reserved for contracts: %w", name, escrowWord, ErrBadAccount)
	}
	a := l.add(account{contract: NoContract, name: name})
	l.byName[name] = a
	return a, nil
}

// add appends a row and returns its number.
func (l *Ledger) add(row account) Account {
	l.accounts = append(l.accounts, row)
	return Account(len(l.accounts) - 1)
}

// Name returns the name of a, or an empty string if there is no such account.
func (l *Ledger) Name(a Account) string {
	if a < 0 || int(a) >= len(l.accounts) {
		return ""
	}
	row := &l.accounts[a]
	if row.name == "" && row.contract != NoContract {
		return EscrowName(row.contract)
	}
	return row.name
}

// Balance returns the balance of a. The balance of the issuer is minus the amount issued.
func (l *Ledger) Balance(a Account) Amount {
	if a < 0 || int(a) >= len(l.accounts) {
		return Amount{}
	}
	return Amount{l.accounts[a].balance}
}

// Issued returns the sum of all money in the ledger.
func (l *Ledger) Issued() Amount { return Amount{-l.accounts[issuer].balance} }

// Escrow returns the amount held in escrow for contract, and whether the escrow is open.
func (l *Ledger) Escrow(contract int64) (Amount, bool) {
	a, ok := l.contracts.escrow(contract)
	if !ok {
		return Amount{}, false
	}
	return l.Balance(a), true
}

// EscrowOwner returns the account that receives the remainder of contract's escrow, or an
// empty string if the escrow is not open.
func (l *Ledger) EscrowOwner(contract int64) string {
	a, ok := l.contracts.escrow(contract)
	if !ok {
		return ""
	}
	return l.Name(l.accounts[a].owner)
}

// Balances yields the name and balance of every account in order of number, including the mint
// and open escrows. The balances add up to zero.
func (l *Ledger) Balances() iter.Seq2[string, Amount] {
	return func(yield func(string, Amount) bool) {
		for a, row := range l.accounts {
			if row.contract == NoContract && row.name == "" {
				continue // the escrow of this row is closed
			}
			if !yield(l.Name(Account(a)), Amount{row.balance}) {
				return
			}
		}
	}
}

// Entries returns the number of entries booked.
func (l *Ledger) Entries() int64 { return l.seq }

// Now returns the time of the last entry, in seconds since the start of the run.
func (l *Ledger) Now() float64 { return l.now }

// A Posting moves Amount, which must be positive, from one account to another. A posting
// always has two ends, so it cannot be out of balance.
type Posting struct {
	From, To Account
	Amount   Amount
}

// Mint issues the amount a to an account. This is the only way in which money enters a ledger.
// It fails if the total would exceed the range of an [Amount].
func (l *Ledger) Mint(now float64, to Account, a Amount) error {
	err := l.begin(now)
	if err == nil {
		err = l.named(to)
	}
	if err == nil {
		l.book(issuer, to, a)
		err = l.commit(now, Issue, NoContract, "", nil)
	}
	if err != nil {
		return fmt.Errorf("mint: %w", err)
	}
	return nil
}

// Post books postings between accounts as one entry. Post applies the postings in order, and
// the payer must have enough money for each posting when it is applied. If one posting fails,
// none is booked.
func (l *Ledger) Post(now float64, note []byte, ps ...Posting) error {
	err := l.begin(now)
	for i := 0; i < len(ps) && err == nil; i++ {
		err = l.named(ps[i].From, ps[i].To)
	}
	if err == nil {
		l.booking = append(l.booking, ps...)
		err = l.commit(now, Transfer, NoContract, "", note)
	}
	if err != nil {
		return fmt.Errorf("post: %w", err)
	}
	return nil
}

// begin prepares an entry at now, which must not be earlier than the last entry.
func (l *Ledger) begin(now float64) error {
	l.booking = l.booking[:0]
	// The comparison is written so that it also rejects NaN.
	if !(now >= l.now) || math.IsInf(now, 1) {
		return fmt.Errorf("at %v s after %v s: %w", now, l.now, ErrBadTime)
	}
	return nil
}

// named returns an error if one of the accounts is the mint, an escrow, or not in this ledger.
func (l *Ledger) named(accounts ...Account) error {
	for _, a := range accounts {
		if !l.isNamed(a) {
			return fmt.Errorf("account %d %q: %w", a, l.Name(a), ErrBadAccount)
		}
	}
	return nil
}

// isNamed reports whether a is an ordinary account of this ledger.
func (l *Ledger) isNamed(a Account) bool {
	return a > issuer && int(a) < len(l.accounts) && l.accounts[a].contract == NoContract && l.accounts[a].name != ""
}

// book adds a posting to the entry in progress.
func (l *Ledger) book(from, to Account, a Amount) {
	l.booking = append(l.booking, Posting{from, to, a})
}

// commit applies the booked postings, appends them to the journal as one entry, and moves the
// clock to now. If any step fails, commit undoes all postings and returns the error.
func (l *Ledger) commit(now float64, k Kind, contract int64, id string, note []byte) error {
	if len(note) > MaxNote || len(l.booking) > MaxMoves {
		return fmt.Errorf("note of %d bytes, %d moves: at most %d and %d: %w", len(note), len(l.booking), MaxNote, MaxMoves, ErrBadEntry)
	}
	// Apply the postings in order: a posting may spend money that an earlier posting of the same
	// entry has transferred.
	for i := range l.booking {
		if err := l.move(&l.booking[i]); err != nil {
			l.undo(i)
			return err
		}
	}
	// Append to the journal last. If the append fails, undoing the postings restores the state
	// before the entry.
	if l.journal != nil {
		if err := l.record(now, k, contract, id, note); err != nil {
			l.undo(len(l.booking))
			return fmt.Errorf("journal entry %d: %w", l.seq+1, err)
		}
	}
	l.seq++
	l.now = now
	return nil
}

// move applies p. A balance can never exceed the amount issued, so it cannot overflow.
func (l *Ledger) move(p *Posting) error {
	from, to := &l.accounts[p.From], &l.accounts[p.To]
	switch {
	case p.Amount.micros <= 0:
		return fmt.Errorf("%v from %s to %s: %w", p.Amount, l.Name(p.From), l.Name(p.To), ErrBadAmount)
	case p.From == p.To:
		return fmt.Errorf("from %s to itself: %w", l.Name(p.From), ErrBadAccount)
	case p.From == issuer:
		// from.balance is minus the amount issued so far, so the right side is the amount that
		// can still be issued.
		if p.Amount.micros > math.MaxInt64+from.balance {
			return fmt.Errorf("%v more than the %v issued: %w", p.Amount, l.Issued(), errRange)
		}
	case p.Amount.micros > from.balance:
		return &Shortfall{l.Name(p.From), Amount{from.balance}, p.Amount}
	}
	from.balance -= p.Amount.micros
	to.balance += p.Amount.micros
	return nil
}

// undo reverses the first n booked postings.
func (l *Ledger) undo(n int) {
	for _, p := range l.booking[:n] {
		l.accounts[p.From].balance += p.Amount.micros
		l.accounts[p.To].balance -= p.Amount.micros
	}
}

// record appends the booked postings to the journal.
func (l *Ledger) record(now float64, k Kind, contract int64, id string, note []byte) error {
	// The entry and its list of moves are reused. A Journal must therefore not retain them.
	e := &l.entry
	*e = Entry{Seq: l.seq + 1, Time: now, Kind: k, Contract: contract, ID: id, Moves: e.Moves[:0], Note: note}
	for _, p := range l.booking {
		e.Moves = append(e.Moves, Move{l.called(p.From), l.called(p.To), p.Amount})
	}
	return l.journal.Append(e)
}

// called returns the same name as [Ledger.Name], for an existing account. It stores the name
// after creating it.
func (l *Ledger) called(a Account) string {
	row := &l.accounts[a]
	if row.name == "" {
		row.name = EscrowName(row.contract)
	}
	return row.name
}
