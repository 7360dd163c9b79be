package audit

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Money is an amount in micro-dollars. Its text form is in dollars with six decimals.
type Money int64

// String returns the amount in dollars with all six decimals.
func (m Money) String() string {
	sign, n := "", uint64(m)
	if m < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%06d", sign, n/1e6, n%1e6)
}

// add adds x to a sum of payments. The sum stops at the maximum. A sum of payments can exceed
// the total money, because the same money can be paid several times.
func (m *Money) add(x Money) { *m += min(x, math.MaxInt64-*m) }

// MarshalText returns m in the format of [Money.String].
func (m Money) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// A books is the set of accounts. It is derived only from the entries.
type books struct {
	time     float64
	accounts map[string]*account
	mint     *account
	escrows  map[int64]*escrow
	settled  []*escrow            // escrows of settled contracts, for reuse
	admitted map[int64]*[8]uint64 // contracts, 512 per page
	name     *regexp.Regexp
	before   Money // amount issued before the sums were reset
	sum      Report
}

type account struct {
	name  string
	holds Money
}

type escrow struct {
	account // account of the escrow, without a name
	owner   string
}

func newBooks() *books {
	mint := &account{name: "mint"}
	return &books{
		accounts: map[string]*account{"mint": mint},
		mint:     mint,
		escrows:  make(map[int64]*escrow),
		admitted: make(map[int64]*[8]uint64),
		name:     regexp.MustCompile(`^[a-z]+(:[A-Za-z0-9][A-Za-z0-9._-]*)*$`),
	}
}

// book books e, or returns the text found and the text expected.
func (b *books) book(e *Entry) (found, want string) {
	if !(e.Time >= b.time) || math.IsInf(e.Time, 1) {
		return fmt.Sprintf("an entry at %v s", e.Time), fmt.Sprintf("one at %v s or later", b.time)
	}
	switch e.Kind {
	case Issue, Transfer:
		if e.Contract >= 0 || len(e.Moves) == 0 {
			return fmt.Sprintf("%d moves for contract %d", len(e.Moves), e.Contract), "at least one, for no contract"
		}
		found, want = b.moves(e, e.Kind == Issue)
	case Admit:
		found, want = b.admit(e)
	case Settle:
		found, want = b.settle(e)
	case Penalty:
		if len(e.Moves) == 0 || !b.wasAdmitted(e.Contract) {
			return fmt.Sprintf("a penalty in %d moves for contract %d", len(e.Moves), e.Contract), "one for a contract that was admitted"
		}
		found, want = b.moves(e, false)
	case Reject:
		if len(e.Moves) > 0 || e.Contract < 0 {
			return fmt.Sprintf("a rejection with %d moves, of contract %d", len(e.Moves), e.Contract), "a rejection of a contract, without moves"
		}
		b.sum.Rejected++
	case Owner:
		if len(e.Moves) > 0 || e.Contract >= 0 {
			return fmt.Sprintf("an owner record with %d moves, of contract %d", len(e.Moves), e.Contract), "one without moves or contract"
		}
	case Refuse:
		if len(e.Moves) > 0 || e.Contract >= 0 {
			return fmt.Sprintf("a refusal with %d moves, of contract %d", len(e.Moves), e.Contract), "one without moves or contract"
		}
		b.sum.Refused++
	case Cleared:
		if len(e.Moves) > 0 || e.Contract >= 0 {
			return fmt.Sprintf("a result of a clearing with %d moves, of contract %d", len(e.Moves), e.Contract), "one without moves or contract"
		}
	case Moved:
		if len(e.Moves) > 0 || b.escrows[e.Contract] == nil {
			return fmt.Sprintf("a change of hosts with %d moves, of contract %d", len(e.Moves), e.Contract), "one without moves, of an open contract"
		}
	case Adjust:
		found, want = b.adjust(e)
	default:
		return fmt.Sprintf("an entry of kind %d", e.Kind), "a kind from 1 to 11"
	}
	if found == "" {
		b.time = e.Time
	}
	return found, want
}

// moves books moves between accounts or from the mint.
func (b *books) moves(e *Entry, minted bool) (found, want string) {
	for i := range e.Moves {
		m := &e.Moves[i]
		from := b.account(m.From)
		if minted != (from == b.mint) {
			return fmt.Sprintf("a move from %q", m.From), "moves from the mint only in issues, and issues only from the mint"
		}
		if found, want := b.move(from, m); found != "" {
			return found, want
		}
		switch e.Kind {
		case Issue:
			b.sum.Issued.add(Money(m.Micros))
		case Penalty:
			b.sum.Penalties.add(Money(m.Micros))
		}
	}
	return "", ""
}

// move books m. The argument from is nil if that account has never received money.
func (b *books) move(from *account, m *Move) (found, want string) {
	micros := Money(m.Micros)
	to := b.account(m.To)
	switch {
	case from == nil:
		return fmt.Sprintf("a move from %q", m.From), "one from an account with money"
	case micros <= 0:
		return fmt.Sprintf("a move of %v", micros), "a positive amount"
	case to == b.mint || to == from:
		return fmt.Sprintf("a move from %q to %q", m.From, m.To), "one between two accounts"
	case from == b.mint && micros > math.MaxInt64+from.holds:
		return fmt.Sprintf("an issue of %v on top of %v", micros, -from.holds), "a total within the range of amounts"
	case from != b.mint && micros > from.holds:
		return fmt.Sprintf("a move of %v out of %q, which holds %v", micros, m.From, from.holds), "no overdraft"
	}
	if to == nil {
		if !b.name.Match(m.To) || strings.HasPrefix(string(m.To)+":", "escrow:") {
			return fmt.Sprintf("an account named %q", m.To), "a valid account name"
		}
		to = b.open(m.To)
	}
	from.holds -= micros
	to.holds += micros
	return "", ""
}

// account returns an account, or nil if the account has never received money.
func (b *books) account(name []byte) *account { return b.accounts[string(name)] }

// open creates an account with a zero balance.
func (b *books) open(name []byte) *account {
	a := &account{name: string(name)}
	b.accounts[a.name] = a
	return a
}

func (b *books) admit(e *Entry) (found, want string) {
	m := e.First()
	owner := b.account(m.From)
	switch {
	case len(e.Moves) != 1 || e.Contract < 0 || len(m.To) > 0 || string(m.From) == "mint":
		return fmt.Sprintf("an admission of contract %d in %d moves, to %q", e.Contract, len(e.Moves), m.To), "one move, from its owner to its escrow"
	case b.wasAdmitted(e.Contract):
		return fmt.Sprintf("a second admission of contract %d", e.Contract), "one admission per contract"
	case owner == nil || m.Micros <= 0 || Money(m.Micros) > owner.holds:
		return fmt.Sprintf("%v of %q held in escrow", Money(m.Micros), m.From), "a positive amount, at most its owner's balance"
	}
	owner.holds -= Money(m.Micros)
	esc := b.escrow()
	*esc = escrow{account{holds: Money(m.Micros)}, owner.name}
	b.escrows[e.Contract] = esc
	page := b.admitted[e.Contract/512]
	if page == nil {
		page = new([8]uint64)
		b.admitted[e.Contract/512] = page
	}
	page[e.Contract%512/64] |= 1 << (e.Contract % 64)
	b.sum.Admitted++
	return "", ""
}

// escrow returns an unused escrow.
func (b *books) escrow() *escrow {
	last := len(b.settled) - 1
	if last < 0 {
		return new(escrow)
	}
	esc := b.settled[last]
	b.settled = b.settled[:last]
	return esc
}

func (b *books) wasAdmitted(contract int64) bool {
	if contract < 0 {
		return false
	}
	page := b.admitted[contract/512]
	return page != nil && page[contract%512/64]>>(contract%64)&1 == 1
}

func (b *books) settle(e *Entry) (found, want string) {
	esc := b.escrows[e.Contract]
	if esc == nil {
		return fmt.Sprintf("a settlement of contract %d, which has no escrow", e.Contract), "one of an open contract"
	}
	for i := range e.Moves {
		m := &e.Moves[i]
		if len(m.From) > 0 || len(m.To) == 0 {
			return fmt.Sprintf("a settlement that moves from %q to %q", m.From, m.To), "only moves out of the escrow"
		}
		if found, want := b.move(&esc.account, m); found != "" {
			return found, want
		}
		if string(m.To) == esc.owner {
			b.sum.Refunded.add(Money(m.Micros))
		} else {
			b.sum.Charged.add(Money(m.Micros))
		}
	}
	if esc.holds != 0 {
		return fmt.Sprintf("a settlement of contract %d that leaves %v in escrow", e.Contract, esc.holds), "charges and a refund that add up to the escrow"
	}
	delete(b.escrows, e.Contract)
	b.settled = append(b.settled, esc)
	b.sum.Settled++
	return "", ""
}

// adjust books a change to a contract's budget.
func (b *books) adjust(e *Entry) (found, want string) {
	esc := b.escrows[e.Contract]
	if esc == nil {
		return fmt.Sprintf("a changed budget of contract %d, which has no escrow", e.Contract), "one of an open contract"
	}
	owner, m := b.accounts[esc.owner], e.First()
	raised := string(m.From) == esc.owner && len(m.To) == 0
	switch lowered := len(m.From) == 0 && string(m.To) == esc.owner; {
	case len(e.Moves) == 0:
	case len(e.Moves) > 1 || m.Micros <= 0 || !raised && !lowered:
		return fmt.Sprintf("a changed budget in %d moves, %v from %q to %q", len(e.Moves), Money(m.Micros), m.From, m.To), "at most one move, between the escrow and its owner"
	case raised && Money(m.Micros) > owner.holds:
		return fmt.Sprintf("%v of %q added to an escrow", Money(m.Micros), m.From), "at most its owner's balance"
	case lowered && Money(m.Micros) >= esc.holds:
		return fmt.Sprintf("%v out of an escrow of %v", Money(m.Micros), esc.holds), "a budget that remains above 0"
	case raised:
		owner.holds, esc.holds = owner.holds-Money(m.Micros), esc.holds+Money(m.Micros)
	default:
		owner.holds, esc.holds = owner.holds+Money(m.Micros), esc.holds-Money(m.Micros)
	}
	return "", ""
}

// sumAnew resets the sums.
func (b *books) sumAnew() {
	b.before += b.sum.Issued
	b.sum = Report{}
}

// report returns a report with the sums and balances. Each move has two ends, so money must be
// conserved. report checks the total nevertheless.
func (b *books) report() *Report {
	r := b.sum
	var total Money
	for name, a := range b.accounts {
		total += a.holds
		r.Balances = append(r.Balances, Balance{name, a.holds})
	}
	for contract, e := range b.escrows {
		total += e.holds
		r.Held += e.holds
		r.Balances = append(r.Balances, Balance{fmt.Sprintf("escrow:%d", contract), e.holds})
	}
	slices.SortFunc(r.Balances, func(x, y Balance) int { return strings.Compare(x.Account, y.Account) })
	if total != 0 || -b.accounts["mint"].holds != b.before+r.Issued {
		r.Findings = append(r.Findings, Finding{Found: fmt.Sprintf("balances that sum to %v", total), Want: "a sum of zero"})
	}
	return &r
}
