// Package owners keeps who owns which account of a ledger, and who may do what: one
// small state, which is what the ledger's entries add up to. At the door of a bank it
// tells whether an entry was asked for, by a signed order, by whom it must be.
//
// It does not know how entries are kept, and reads no clock. bank/audit reads the same
// rules from a ledger alone and shares none of this code: the two must agree.
//
// # Rules
//
// A ledger is open, and anybody who can write it may book anything, until an entry makes
// it owned: that gives it an id, an operator and a recovery key. From then on every entry
// carries an order (see bank/order) for this ledger, which has not expired, whose account
// and id are the entry's id, and which is signed by the key that the account has at that
// entry:
//
//   - A transfer: by the account that pays, for that amount.
//   - An issue: a mint, by an account with the right mint, which has a cap for every span
//     as long as its period; and by a second account, if the right says so.
//   - An admission, or a rejection: an order of the account that pays, for no more than
//     its budget, that names a market with the right settle. The right has a number k, no
//     other market's; contracts of that market are k·2³² and following.
//   - A settlement: by the market, of a contract of its number, to the contract's owner
//     and accounts that are payees of this market.
//   - A penalty: by the market, for a contract of its number, out of its own account.
//   - A record of owners: by the operator; but an account may enrol by an invitation of
//     the operator, once and for an hour, change its key, and revoke it; and the operator
//     himself, account "operator", is given another key by account "recovery", whose key
//     is kept offline.
//
// An invitation is a key of its own, made from 128 bits, that signs the order to enrol:
// the ledger has its public half alone.
//
// Orders may be booked for five minutes after they have expired, as markets allow; orders to
// read are good until they expire, and for a minute at most.
//
// An order that asks for something by itself, signed by those who must, and refused all the
// same, is recorded by an entry of kind refuse, with the reason after the order: its id is
// used up, and the order is never booked. So are orders that have expired. Settlements,
// penalties and admissions are not: a market may ask for them again, as when its right has
// been given back.
package owners

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"bourse/bank"
	"bourse/bank/order"
)

// The accounts that have keys from the beginning.
const (
	operator = "operator"
	recovery = "recovery"
)

const (
	slack      = 300  // seconds after its expiry in which an order may be booked
	invitation = 3600 // seconds for which an invitation holds
	perMarket  = 32   // bits of a contract's number that its market counts
	revoked    = "-"  // in place of a key
)

// Owners are those of one ledger. The zero value is that of an open one.
type Owners struct {
	ledger  string // its id, empty while it is open
	parties map[string]*party
	markets map[int64]string // by number
	changed map[string]bool  // since rows were last taken
}

// A party is an account with a key, or a right.
type party struct {
	key     string // empty if it never had one
	invited string // the public key of its invitation, or empty
	until   float64
	mint    *mint
	settle  int64 // the market's number, or -1
	payee   map[string]bool
	read    bool
	audit   bool
}

// A mint is the right to issue money.
type mint struct {
	cap    bank.Amount
	period int64  // seconds
	with   string // who must sign, too, or empty
	window int64  // the last period in which it issued
	issued bank.Amount

	// If the cap is of every span as long as the period, what was issued in the last one, by
	// time. The others are of a right of versions before: its periods begin at second 0.
	sliding bool
	issues  []issue
}

// An issue is money that was issued at an instant.
type issue struct {
	at     float64
	amount bank.Amount
}

// mostIssues is how many issues are kept of a mint. Of more, the two first count as one at
// the time of the later: so much is never issued too much, but may be too little.
const mostIssues = 64

// left returns what may still be issued at an instant.
func (m *mint) left(now float64) bank.Amount {
	if m.sliding {
		left := m.cap
		for _, i := range m.issues {
			if now-i.at < float64(m.period) {
				left, _ = left.Sub(i.amount)
			}
		}
		return left
	}
	if m.window != window(now, m.period) {
		return m.cap
	}
	left, _ := m.cap.Sub(m.issued)
	return left
}

// add counts what was issued at an instant.
func (m *mint) add(a bank.Amount, now float64) {
	if m.sliding {
		m.issues = append(slices.DeleteFunc(m.issues, func(i issue) bool { return now-i.at >= float64(m.period) }), issue{now, a})
		if len(m.issues) > mostIssues {
			first, _ := m.issues[0].amount.Add(m.issues[1].amount) // no more than its cap
			m.issues[1].amount = first
			m.issues = slices.Delete(m.issues, 0, 1)
		}
		return
	}
	if at := window(now, m.period); m.window != at {
		m.window, m.issued = at, bank.Amount{}
	}
	m.issued, _ = m.issued.Add(a) // no more than its cap
}

func window(now float64, period int64) int64 { return int64(now / float64(period)) }

// Ledger returns the id of the ledger, empty if it is open.
func (o *Owners) Ledger() string { return o.ledger }

// Mode returns "owned", or "open".
func (o *Owners) Mode() string {
	if o.ledger == "" {
		return "open"
	}
	return "owned"
}

// of returns a party, one without anything if there is none.
func (o *Owners) of(name string) party {
	if p := o.parties[name]; p != nil {
		return *p
	}
	return party{settle: -1}
}

// has tells whether an account has a key.
func (o *Owners) has(name string) bool {
	key := o.of(name).key
	return key != "" && key != revoked
}

// Known reports whether an account has, or had, a key or a right.
func (o *Owners) Known(name string) bool { return o.parties[name] != nil }

// Names yields the accounts that have, or had, a key or a right.
func (o *Owners) Names() iter.Seq[string] { return maps.Keys(o.parties) }

// Book books what e, which has passed [Owners.Check], says of owners and rights.
func (o *Owners) Book(e *bank.Entry) {
	switch {
	case e.Kind == bank.Owner && o.ledger == "":
		if a, err := order.Parse(string(e.Note)); err == nil && a.Kind == "own" {
			o.own(a)
		}
	case e.Kind == bank.Owner || e.Kind == bank.Issue && o.ledger != "":
		if s, err := order.Open(e.Note); err == nil {
			o.book(s.Order, e.Time)
		}
	}
}

func (o *Owners) book(a *order.Order, now float64) {
	switch a.Kind {
	case "mint":
		if o.of(a.Value("account")).mint != nil {
			o.change(a.Value("account")).mint.add(a.Money("amount"), now)
		}
	case "enrol", "recover":
		p := o.change(a.Value("of"))
		p.key, p.invited, p.until = a.Value("key"), "", 0
	case "invite":
		p := o.change(a.Value("of"))
		p.invited, p.until = a.Value("key"), now+invitation
	case "rotate":
		o.change(a.Value("account")).key = a.Value("key")
	case "revoke":
		o.revoke(a)
	case "right":
		o.give(a)
	}
}

func (o *Owners) own(a *order.Order) {
	o.ledger = a.Value("ledger")
	o.parties, o.markets, o.changed = make(map[string]*party), make(map[int64]string), make(map[string]bool)
	o.changed[ledgerRow] = true
	o.change(operator).key = a.Value("operator")
	o.change(recovery).key = a.Value("recovery")
}

// change returns a party, which is made if there was none, to be changed.
func (o *Owners) change(name string) *party {
	p := o.parties[name]
	if p == nil {
		p = &party{settle: -1}
		o.parties[name] = p
	}
	o.changed[name] = true
	return p
}

func (o *Owners) revoke(a *order.Order) {
	p := o.change(a.Value("of"))
	switch a.Value("right") {
	case "":
		p.key = revoked
	case "mint":
		p.mint = nil
	case "settle":
		delete(o.markets, p.settle)
		p.settle = -1
	case "payee":
		delete(p.payee, a.Value("market"))
	case "read":
		p.read = false
	case "audit":
		p.audit = false
	}
	if p.String() == "" {
		delete(o.parties, a.Value("of"))
	}
}

func (o *Owners) give(a *order.Order) {
	name := a.Value("of")
	p := o.change(name)
	switch a.Value("right") {
	case "mint":
		m := &mint{cap: a.Money("cap"), period: a.Number("period"), with: a.Value("with"), window: -1, sliding: a.Value("window") != ""}
		if p.mint != nil && p.mint.period == m.period && p.mint.sliding == m.sliding {
			m.window, m.issued, m.issues = p.mint.window, p.mint.issued, p.mint.issues
		}
		p.mint = m
	case "settle":
		delete(o.markets, p.settle)
		p.settle = a.Number("number")
		o.markets[p.settle] = name
	case "payee":
		if p.payee == nil {
			p.payee = make(map[string]bool)
		}
		p.payee[a.Value("market")] = true
	case "read":
		p.read = true
	case "audit":
		p.audit = true
	}
}

// An Account is what one account has.
type Account struct {
	Account string   `json:"account"`
	Key     string   `json:"key,omitempty" doc:"its public key; none if that was revoked, or it never had one"`
	Rights  []string `json:"rights" doc:"mint, settle, payee, read or audit, with what they say"`
}

// Accounts returns all accounts that have a key or a right, by name, at an instant.
func (o *Owners) Accounts(now float64) []Account {
	list := []Account{}
	for _, name := range slices.Sorted(maps.Keys(o.parties)) {
		p := o.parties[name]
		a := Account{Account: name, Rights: []string{}}
		if o.has(name) {
			a.Key = p.key
		}
		if m := p.mint; m != nil {
			s := fmt.Sprintf("mint cap %v period %d left %v", m.cap, m.period, m.left(now))
			if m.with != "" {
				s += " with " + m.with
			}
			a.Rights = append(a.Rights, s)
		}
		if p.settle >= 0 {
			a.Rights = append(a.Rights, fmt.Sprintf("settle number %d", p.settle))
		}
		for _, market := range slices.Sorted(maps.Keys(p.payee)) {
			a.Rights = append(a.Rights, "payee market "+market)
		}
		if p.read {
			a.Rights = append(a.Rights, "read")
		}
		if p.audit {
			a.Rights = append(a.Rights, "audit")
		}
		if name == operator {
			a.Rights = append(a.Rights, "enrol, invite, recover, revoke and give rights")
		}
		if name == recovery {
			a.Rights = append(a.Rights, "recover operator")
		}
		list = append(list, a)
	}
	return list
}
