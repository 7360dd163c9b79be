package audit

import (
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Money is micro-dollars; as text, dollars with six decimals.
type Money int64

func (m Money) String() string {
	sign, n := "", uint64(m)
	if m < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%06d", sign, n/1e6, n%1e6)
}

// MarshalText returns what [Money.String] does.
func (m Money) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// books are the accounts, kept again from the entries alone.
type books struct {
	time     float64
	accounts map[string]*account
	recent   [1 << placeBits]*account // some of them, by the end of the name
	escrows  map[int64]*escrow
	admitted map[int64]*[8]uint64 // contracts, 512 a page
	name     *regexp.Regexp
	before   Money // issued before sum was begun anew
	sum      Report
}

type account struct {
	name  string
	holds Money
}

type escrow struct {
	held  Money
	owner string
}

func newBooks() *books {
	return &books{
		accounts: map[string]*account{"mint": {name: "mint"}},
		escrows:  make(map[int64]*escrow),
		admitted: make(map[int64]*[8]uint64),
		name:     regexp.MustCompile(`^[a-z]+(:[A-Za-z0-9][A-Za-z0-9._-]*)*$`),
	}
}

// book books e, or says what it found and what should stand there.
func (b *books) book(e *entry) (found, want string) {
	if !(e.time >= b.time) || math.IsInf(e.time, 1) {
		return fmt.Sprintf("an entry at %v s", e.time), fmt.Sprintf("one at %v s or later", b.time)
	}
	switch e.kind {
	case issue, transfer:
		if e.contract >= 0 || len(e.moves) == 0 {
			return fmt.Sprintf("%d moves for contract %d", len(e.moves), e.contract), "at least one, for no contract"
		}
		found, want = b.moves(e, e.kind == issue)
	case admit:
		found, want = b.admit(e)
	case settle:
		found, want = b.settle(e)
	case penalty:
		if len(e.moves) == 0 || !b.wasAdmitted(e.contract) {
			return fmt.Sprintf("a penalty in %d moves for contract %d", len(e.moves), e.contract), "one for a contract that was admitted"
		}
		found, want = b.moves(e, false)
	case reject:
		if len(e.moves) > 0 || e.contract < 0 {
			return fmt.Sprintf("a rejection with %d moves, of contract %d", len(e.moves), e.contract), "a rejection of a contract, without moves"
		}
		b.sum.Rejected++
	default:
		return fmt.Sprintf("an entry of kind %d", e.kind), "a kind from 1 to 6"
	}
	if found == "" {
		b.time = e.time
	}
	return found, want
}

// moves books moves between accounts, or out of the mint.
func (b *books) moves(e *entry, minted bool) (found, want string) {
	for _, m := range e.moves {
		if minted != (string(m.from) == "mint") {
			return fmt.Sprintf("a move from %q", m.from), "one from the mint in an issue, and only there"
		}
		if found, want := b.move(b.account(m.from), m.from, m.to, m.micros); found != "" {
			return found, want
		}
		switch e.kind {
		case issue:
			b.sum.Issued += Money(m.micros)
		case penalty:
			b.sum.Penalties += Money(m.micros)
		}
	}
	return "", ""
}

// move takes micros from what is called name.
func (b *books) move(from *Money, name, to []byte, micros int64) (found, want string) {
	mint := string(name) == "mint"
	switch {
	case from == nil:
		return fmt.Sprintf("a move from %q", name), "one from an account that has something"
	case micros <= 0:
		return fmt.Sprintf("a move of %v", Money(micros)), "a positive amount"
	case string(to) == "mint" || string(to) == string(name):
		return fmt.Sprintf("a move from %q to %q", name, to), "one between two accounts"
	case mint && micros > math.MaxInt64+int64(*from):
		return fmt.Sprintf("an issue of %v on top of %v", Money(micros), -*from), "no more money than can be told"
	case !mint && Money(micros) > *from:
		return fmt.Sprintf("a move of %v out of %q, which holds %v", Money(micros), name, *from), "no overdraft"
	}
	there := b.account(to)
	if there == nil {
		if !b.name.Match(to) || strings.HasPrefix(string(to)+":", "escrow:") {
			return fmt.Sprintf("an account named %q", to), "the name of an account"
		}
		there = b.open(string(to))
	}
	*from -= Money(micros)
	*there += Money(micros)
	return "", ""
}

// account returns what an account holds, nil if it was never paid.
func (b *books) account(name []byte) *Money {
	recent := &b.recent[place(name)]
	if a := *recent; a != nil && a.name == string(name) {
		return &a.holds
	}
	a := b.accounts[string(name)]
	if a == nil {
		return nil
	}
	*recent = a
	return &a.holds
}

const placeBits = 13

// place tells names apart by their last bytes.
func place(name []byte) int {
	var tail uint64
	if n := len(name); n >= 8 {
		tail = binary.LittleEndian.Uint64(name[n-8:])
	} else {
		for _, c := range name {
			tail = tail<<8 | uint64(c)
		}
	}
	return int(tail * 0x9e3779b97f4a7c15 >> (64 - placeBits))
}

// open makes an account that holds nothing.
func (b *books) open(name string) *Money {
	a := &account{name: name}
	b.accounts[name] = a
	return &a.holds
}

func (b *books) admit(e *entry) (found, want string) {
	m := e.first()
	owner := b.account(m.from)
	switch {
	case len(e.moves) != 1 || e.contract < 0 || len(m.to) > 0 || string(m.from) == "mint":
		return fmt.Sprintf("an admission of contract %d in %d moves, to %q", e.contract, len(e.moves), m.to), "one move, from its owner to its escrow"
	case b.wasAdmitted(e.contract):
		return fmt.Sprintf("contract %d admitted again", e.contract), "a contract is admitted once"
	case owner == nil || m.micros <= 0 || Money(m.micros) > *owner:
		return fmt.Sprintf("%v set aside by %q", Money(m.micros), m.from), "a positive amount that its owner holds"
	}
	*owner -= Money(m.micros)
	b.escrows[e.contract] = &escrow{Money(m.micros), string(m.from)}
	page := b.admitted[e.contract/512]
	if page == nil {
		page = new([8]uint64)
		b.admitted[e.contract/512] = page
	}
	page[e.contract%512/64] |= 1 << (e.contract % 64)
	b.sum.Admitted++
	return "", ""
}

func (b *books) wasAdmitted(contract int64) bool {
	if contract < 0 {
		return false
	}
	page := b.admitted[contract/512]
	return page != nil && page[contract%512/64]>>(contract%64)&1 == 1
}

func (b *books) settle(e *entry) (found, want string) {
	esc := b.escrows[e.contract]
	if esc == nil {
		return fmt.Sprintf("a settlement of contract %d, which holds nothing", e.contract), "one of a contract that is open"
	}
	for _, m := range e.moves {
		if len(m.from) > 0 || len(m.to) == 0 {
			return fmt.Sprintf("a settlement that moves from %q to %q", m.from, m.to), "only moves out of the escrow"
		}
		if found, want := b.move(&esc.held, m.from, m.to, m.micros); found != "" {
			return found, want
		}
		if string(m.to) == esc.owner {
			b.sum.Refunded += Money(m.micros)
		} else {
			b.sum.Charged += Money(m.micros)
		}
	}
	if esc.held != 0 {
		return fmt.Sprintf("a settlement of contract %d that leaves %v", e.contract, esc.held), "charges and refund that come to what was admitted"
	}
	delete(b.escrows, e.contract)
	b.sum.Settled++
	return "", ""
}

// sumAnew leaves what was booked so far out of the sums.
func (b *books) sumAnew() {
	b.before += b.sum.Issued
	b.sum = Report{}
}

// report sums up. That money is conserved follows from every entry's having two
// ends; it is checked again here.
func (b *books) report() *Report {
	r := b.sum
	var total Money
	for name, a := range b.accounts {
		total += a.holds
		r.Balances = append(r.Balances, Balance{name, a.holds})
	}
	for contract, e := range b.escrows {
		total += e.held
		r.Held += e.held
		r.Balances = append(r.Balances, Balance{fmt.Sprintf("escrow:%d", contract), e.held})
	}
	slices.SortFunc(r.Balances, func(x, y Balance) int { return strings.Compare(x.Account, y.Account) })
	if total != 0 || -b.accounts["mint"].holds != b.before+r.Issued {
		r.Findings = append(r.Findings, Finding{Found: fmt.Sprintf("balances that sum to %v", total), Want: "money conserved"})
	}
	return &r
}
