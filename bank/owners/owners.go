// Package owners tracks the owners and the rights of the accounts of a ledger. This state is
// small. It is derived from the entries of the ledger. Before an entry is booked, the package
// decides whether the required accounts have requested it by a signed order.
//
// The package is independent of how entries are stored, and it reads no clock. Package
// bank/audit checks the same rules using only the ledger and shares no code with this package,
// so the two must agree.
//
// # Rules
//
// A ledger is open until an entry makes it owned. Anyone who can write to an open ledger may
// book any entry. The entry that makes the ledger owned gives it an id, an operator and a
// recovery key. From then on, every entry contains an order (see bank/order) that is addressed
// to this ledger and has not expired. The order's account and id form the entry's id. The
// order is signed with the key that the account has when the entry is booked.
//
//   - A transfer needs an order of the paying account for that amount.
//   - An issue needs a mint order of an account with the right mint. The right has a cap for
//     every span of one period's length. If the right says so, a second account must also
//     sign.
//   - An admission or a rejection needs an order of the paying account that names a market
//     with the right settle. An admission may not exceed the order's budget. The right has a
//     number k, which no other market has; the contracts of that market are numbered from
//     k·2³². If the order names a project, as in "project film", account project:film pays, and
//     must have given the order's account the right spend. All budgets admitted under that right
//     may not exceed its limit together. From its settlement, a contract counts only with its
//     payments to accounts other than the project. Under a right of earlier versions, which
//     does not contain "refunds credited", it counts with its whole budget.
//   - A change to a budget needs an order of kind bid of the contract's owner that names such a
//     market and the contract. Afterwards, its escrow has the budget in the order.
//   - A settlement needs an order of the market. It must be of a contract with the market's
//     number, and may pay only the contract's owner and payees of this market.
//   - A penalty needs an order of the market. It must be for a contract with the market's
//     number and come out of the market's own account.
//   - An owner record needs an order of the operator, with these exceptions. An account can
//     enrol by an invitation of the operator, once and within an hour. It can change its own
//     key and revoke it. The operator's own account, "operator", gets a new key from account
//     "recovery", whose key is kept offline.
//
// An invitation is a separate key, made from 128 bits, that signs the order to enrol. The
// ledger contains only its public half.
//
// An order may be booked until five minutes after it expired, because markets permit this,
// too. An order to read is valid until it expires, for at most a minute.
//
// An order that requests an entry by itself may be refused although the required keys signed
// it, for example because it has expired. The refusal is then booked as an entry of kind
// refuse, with the reason after the order. This uses up the id, so the order can never be
// booked. Refusals of settlements, penalties, admissions and budgets are not booked, because a
// market may request them again, for example after it has regained its right.
package owners

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"

	"bourse/bank"
	"bourse/bank/order"
)

// These accounts have keys from the start.
const (
	operator = "operator"
	recovery = "recovery"
)

const (
	slack      = 300  // number of seconds after the expiry of an order during which the order may still be booked
	invitation = 3600 // seconds for which an invitation is valid
	perMarket  = 32   // number of bits of a contract's number that are unique within its market
	revoked    = "-"  // text stored instead of a removed key
)

// An Owners contains the owners of one ledger. The zero value describes an open ledger.
type Owners struct {
	ledger  string // id of the ledger; empty while the ledger is open
	parties map[string]*party
	markets map[int64]string // name of each market, by number
	counted map[string]count // open contracts whose refunds a right to spend regains, by row
	changed map[string]bool  // rows changed since the last call of Rows
}

// A count is the budget with which an open contract counts under the right of one account to
// spend the money of another account.
type count struct {
	of, by string
	budget bank.Amount
}

// A party is an account with a key or a right.
type party struct {
	key     string // empty if the account has never had a key
	invited string // public key of the account's invitation, or empty
	until   float64
	mint    *mint
	settle  int64 // number of the market; -1 if the account is not a market
	payee   map[string]bool
	spends  map[string]*spending // rights to spend the money of this account, by the account that has the right
	read    bool
	audit   bool
}

// A spending is the right of an account to pay the budgets of contracts from another account.
type spending struct {
	most, spent bank.Amount
	refunds     string // "credited" if the right regains the refunds of its contracts
}

// A mint is the right to issue money.
type mint struct {
	cap    bank.Amount
	period int64  // length of a period, in seconds
	with   string // account that must also sign, or empty
	window int64  // latest period in which the account issued money
	issued bank.Amount

	// If sliding is set, the cap applies to every span of one period's length. The field
	// issues then contains the issues of the latest period, sorted by time. The fields window
	// and issued are used for rights of earlier versions, whose periods start at time 0.
	sliding bool
	issues  []issue
}

// An issue is an amount of money with the time at which it was issued.
type issue struct {
	at     float64
	amount bank.Amount
}

// mostIssues is the maximum number of issues stored for a mint. If there are more, the two
// oldest issues are combined at the later time. The cap is then never exceeded, but an issue
// within the cap may be refused.
const mostIssues = 64

// left returns the amount that may still be issued at time now.
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

// add records that an amount was issued at time now.
func (m *mint) add(a bank.Amount, now float64) {
	if m.sliding {
		m.issues = append(slices.DeleteFunc(m.issues, func(i issue) bool { return now-i.at >= float64(m.period) }), issue{now, a})
		if len(m.issues) > mostIssues {
			first, _ := m.issues[0].amount.Add(m.issues[1].amount) // at most the cap
			m.issues[1].amount = first
			m.issues = slices.Delete(m.issues, 0, 1)
		}
		return
	}
	if at := window(now, m.period); m.window != at {
		m.window, m.issued = at, bank.Amount{}
	}
	m.issued, _ = m.issued.Add(a) // at most the cap
}

func window(now float64, period int64) int64 { return int64(now / float64(period)) }

// Ledger returns the id of the ledger, or "" if it is open.
func (o *Owners) Ledger() string { return o.ledger }

// Mode returns "owned" or "open".
func (o *Owners) Mode() string {
	if o.ledger == "" {
		return "open"
	}
	return "owned"
}

// of returns a party, or an empty one if there is none.
func (o *Owners) of(name string) party {
	if p := o.parties[name]; p != nil {
		return *p
	}
	return party{settle: -1}
}

// has reports whether an account has a key.
func (o *Owners) has(name string) bool {
	key := o.of(name).key
	return key != "" && key != revoked
}

// Known reports whether an account has a key or a right, or has had one.
func (o *Owners) Known(name string) bool { return o.parties[name] != nil }

// Names yields the accounts that have a key or a right, or have had one.
func (o *Owners) Names() iter.Seq[string] { return maps.Keys(o.parties) }

// Book applies the effect of e to owners and rights. The entry e must have passed
// [Owners.Check].
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
	case e.Kind == bank.Admit && o.ledger != "" && bytes.Contains(e.Note, []byte("\nproject ")):
		s, err := order.Open(e.Note)
		if err != nil || s.Value("project") == "" {
			return
		}
		if right := o.of(s.Payer()).spends[s.Value("account")]; right != nil {
			o.change(s.Payer())
			right.spent, _ = right.spent.Add(e.Moves[0].Amount) // at most the limit
			if right.refunds != "" {
				o.setCount(countRow(e.Contract), count{s.Payer(), s.Value("account"), e.Moves[0].Amount})
			}
		}
	case e.Kind == bank.Settle && len(o.counted) > 0:
		c, is := o.counted[countRow(e.Contract)]
		if !is {
			return
		}
		refund := c.budget
		for _, m := range e.Moves {
			if m.To != c.of {
				refund, _ = refund.Sub(m.Amount)
			}
		}
		if refund.Sign() > 0 {
			right := o.change(c.of).spends[c.by]
			right.spent, _ = right.spent.Sub(refund)
		}
		o.setCount(countRow(e.Contract), count{})
	}
}

// setCount changes the row of a contract; the zero value removes it.
func (o *Owners) setCount(row string, c count) {
	o.changed[row] = true
	if o.counted[row] = c; c == (count{}) {
		delete(o.counted, row)
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
	o.begin()
	o.changed[ledgerRow] = true
	o.change(operator).key = a.Value("operator")
	o.change(recovery).key = a.Value("recovery")
}

// begin creates the maps of an owned ledger.
func (o *Owners) begin() {
	o.parties, o.markets, o.counted, o.changed = make(map[string]*party), make(map[int64]string), make(map[string]count), make(map[string]bool)
}

// change returns a party that will be changed, and creates it if necessary.
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
	case "spend":
		delete(p.spends, a.Value("for"))
		for row, c := range o.counted {
			if c.of == a.Value("of") && c.by == a.Value("for") {
				o.setCount(row, count{})
			}
		}
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
	case "spend":
		if p.spends == nil {
			p.spends = make(map[string]*spending)
		}
		right := &spending{most: a.Money("most")}
		if a.Value("refunds") != "" {
			right.refunds = credited
		}
		if was := p.spends[a.Value("for")]; was != nil {
			right.spent = was.spent
		}
		p.spends[a.Value("for")] = right
	case "read":
		p.read = true
	case "audit":
		p.audit = true
	}
}

// An Account lists the key and rights of an account.
type Account struct {
	Account string   `json:"account"`
	Key     string   `json:"key,omitempty" doc:"public key; empty if the key was revoked or there never was one"`
	Rights  []string `json:"rights" doc:"rights (mint, settle, payee, spend, read, audit) with their parameters"`
}

// Accounts returns all accounts with a key or a right at time now, sorted by name.
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
		for _, by := range slices.Sorted(maps.Keys(p.spends)) {
			a.Rights = append(a.Rights, fmt.Sprintf("spend for %s most %v spent %v%s", by, p.spends[by].most, p.spends[by].spent, p.spends[by].refunds))
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
