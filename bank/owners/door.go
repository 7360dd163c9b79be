package owners

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"bourse/bank"
	"bourse/bank/order"
)

// entryOf maps each kind of order to the kind of entry that it requests. An order of a market's
// user can result in an admission or a rejection.
var entryOf = map[string]bank.Kind{
	"transfer": bank.Transfer,
	"mint":     bank.Issue,
	"order":    bank.Admit,
	"settle":   bank.Settle,
	"penalty":  bank.Penalty,
	"bid":      bank.Adjust,
	"enrol":    bank.Owner,
	"invite":   bank.Owner,
	"rotate":   bank.Owner,
	"revoke":   bank.Owner,
	"recover":  bank.Owner,
	"right":    bank.Owner,
}

// Check returns an error if the rights of the owners do not permit that e is booked next in l,
// the ledger of o. The argument s is the order in e if it has already been parsed, and nil if
// not.
func (o *Owners) Check(e *bank.Entry, s *order.Signed, l *bank.Ledger) error {
	if o.ledger == "" {
		if e.Kind == bank.Refuse {
			return errors.New("found a refusal in an open ledger")
		}
		if e.Kind != bank.Owner {
			return nil
		}
		a, err := order.Parse(string(e.Note))
		if err == nil && a.Kind != "own" {
			err = fmt.Errorf("found %s, want own: the ledger is open", a.Kind)
		}
		return err
	}
	if s == nil {
		var err error
		if s, err = order.Open(e.Note); err != nil {
			return fmt.Errorf("the ledger is owned: %w", err)
		}
	}
	account := s.Value("account")
	is := entryOf[s.Kind]
	refusal := e.Kind == bank.Refuse
	switch {
	case refusal && byMarket(is), !refusal && e.Kind != is && (is != bank.Admit || e.Kind != bank.Reject):
		return fmt.Errorf("found a %v on an order of kind %s", e.Kind, s.Kind)
	case len(s.Rest) > 0 && !refusal && !byMarket(is):
		return fmt.Errorf("found unsigned text %.60q after the signatures, want the end", s.Rest)
	case s.Value("ledger") != o.ledger:
		return fmt.Errorf("found an order for ledger %s, want %s", s.Value("ledger"), o.ledger)
	case e.ID != s.Request():
		return fmt.Errorf("found request %q on order %q", e.ID, s.Request())
	case !refusal && !(e.Time <= s.Expires()+slack):
		return fmt.Errorf("found an order that expired at %s", s.Value("expires"))
	}
	if err := o.signed(s, e.Time); err != nil || refusal {
		return err
	}
	switch e.Kind {
	case bank.Transfer:
		return moves(e, account, s.Value("to"), s.Money("amount"))
	case bank.Issue:
		return o.mints(e, s.Order)
	case bank.Admit, bank.Reject:
		return o.admits(e, s.Order)
	case bank.Adjust:
		return o.adjusts(e, s.Order, l)
	case bank.Settle:
		return o.settles(e, s.Order, l)
	case bank.Penalty:
		return o.penalty(e, s.Order)
	}
	return o.records(s.Order)
}

// byMarket reports whether a market writes entries of kind k. For these kinds, the market
// determines the rest of the entry, including the part of the note after the order.
func byMarket(k bank.Kind) bool {
	return k == bank.Admit || k == bank.Reject || k == bank.Settle || k == bank.Penalty || k == bank.Adjust || k == 0
}

// Final reports whether a refusal of e is final. It is final if e is exactly the entry that
// its order s requests, s is for this ledger, and the required keys signed s. Any other
// refusal does not affect the order, because anyone could have sent e.
func (o *Owners) Final(e *bank.Entry, s *order.Signed) bool {
	return o.ledger != "" && s != nil && s.Value("ledger") == o.ledger && Whole(e, s) && o.signed(s, e.Time) == nil
}

// Whole reports whether e is exactly the entry that its order s requests by itself.
func Whole(e *bank.Entry, s *order.Signed) bool {
	want, err := entry(s, e.Note, e.Time)
	return err == nil && len(s.Rest) == 0 && e.Kind == want.Kind && e.Contract == want.Contract && e.ID == want.ID && slices.Equal(e.Moves, want.Moves)
}

// signed returns an error unless the required keys, and no others, signed s.
func (o *Owners) signed(s *order.Signed, now float64) error {
	account := s.Value("account")
	p := o.of(account)
	key, want := p.key, 1
	if s.Kind == "enrol" && account == s.Value("of") {
		if key = p.invited; key == "" || now > p.until {
			return fmt.Errorf("%s has no valid invitation", account)
		}
	}
	if key == "" || key == revoked {
		return fmt.Errorf("%s has no key", account)
	}
	if !s.By(key) {
		return fmt.Errorf("found an order not signed by the key of %s", account)
	}
	if s.Kind == "mint" && p.mint != nil && p.mint.with != "" {
		want = 2
		if with := p.mint.with; !o.has(with) || !s.By(o.of(with).key) || o.of(with).key == key {
			return fmt.Errorf("found a mint not also signed by the key of %s", with)
		}
	}
	if s.Signatures() != want {
		return fmt.Errorf("found %d signatures, want %d", s.Signatures(), want)
	}
	return nil
}

// moves returns an error unless the only move of e transfers the amount a from one account to
// the other.
func moves(e *bank.Entry, from, to string, a bank.Amount) error {
	if len(e.Moves) != 1 {
		return fmt.Errorf("found %d moves, want one", len(e.Moves))
	}
	if m := e.Moves[0]; m != (bank.Move{From: from, To: to, Amount: a}) {
		return fmt.Errorf("found %v from %s to %s, want the order's %v from %s to %s", m.Amount, m.From, m.To, a, from, to)
	}
	return nil
}

func (o *Owners) mints(e *bank.Entry, a *order.Order) error {
	account, amount := a.Value("account"), a.Money("amount")
	m := o.of(account).mint
	if m == nil {
		return fmt.Errorf("%s has no right to mint", account)
	}
	if left := m.left(e.Time); amount.Cmp(left) > 0 {
		span := "these"
		if m.sliding {
			span = "any"
		}
		return fmt.Errorf("found a mint of %v by %s, want at most %v, the rest of %v in %s %d s", amount, account, left, m.cap, span, m.period)
	}
	return moves(e, "mint", a.Value("to"), amount)
}

func (o *Owners) admits(e *bank.Entry, a *order.Order) error {
	if err := o.ofMarket(e, "market:"+a.Value("market")); err != nil || e.Kind == bank.Reject {
		return err
	}
	if len(e.Moves) != 1 || e.Moves[0].From != a.Payer() {
		return fmt.Errorf("found an admission with other payers, want only %s", a.Payer())
	}
	if by := a.Value("account"); a.Payer() != by {
		right := o.of(a.Payer()).spends[by]
		if right == nil {
			return fmt.Errorf("%s has no right to spend from %s", by, a.Payer())
		}
		if left, _ := right.most.Sub(right.spent); e.Moves[0].Amount.Cmp(left) > 0 {
			return fmt.Errorf("found %v held from %s for %s, want at most %v, the rest of %v", e.Moves[0].Amount, a.Payer(), by, left, right.most)
		}
	}
	if m := e.Moves[0]; m.Amount.Cmp(a.Money("budget")) > 0 {
		return fmt.Errorf("found %v held in escrow, want at most the budget, %v", m.Amount, a.Money("budget"))
	}
	return nil
}

// adjusts returns an error unless the owner of the contract's escrow requested the budget that
// the escrow has after e.
func (o *Owners) adjusts(e *bank.Entry, a *order.Order, l *bank.Ledger) error {
	if err := o.ofMarket(e, "market:"+a.Value("market")); err != nil {
		return err
	}
	if n := a.Number("contract"); n != e.Contract && n != e.Contract&(1<<perMarket-1) {
		return fmt.Errorf("found contract %d, want the order's, %d", e.Contract, n)
	}
	if owner := l.EscrowOwner(e.Contract); owner != a.Value("account") {
		return fmt.Errorf("found a budget of %q, want one of %s", owner, a.Value("account"))
	}
	budget, _ := l.Escrow(e.Contract)
	var err error
	for _, m := range e.Moves {
		if m.From == a.Value("account") {
			budget, err = budget.Add(m.Amount)
		} else {
			budget, err = budget.Sub(m.Amount)
		}
		if err != nil {
			return err
		}
	}
	if budget != a.Money("budget") {
		return fmt.Errorf("found a budget of %v, want the order's, %v", budget, a.Money("budget"))
	}
	return nil
}

// ofMarket returns an error unless the contract of e belongs to the market.
func (o *Owners) ofMarket(e *bank.Entry, market string) error {
	k := o.of(market).settle
	if k < 0 {
		return fmt.Errorf("%s has no right to settle", market)
	}
	if e.Contract < 0 || e.Contract>>perMarket != k {
		return fmt.Errorf("found contract %d, want one of %s, at least %d", e.Contract, market, k<<perMarket)
	}
	return nil
}

// written returns an error unless e has the contract and moves stated in the order.
func written(e *bank.Entry, a *order.Order) error {
	if e.Contract != a.Number("contract") || order.Digest(e.Moves) != a.Value("moves") {
		return errors.New("found a different contract or different moves, want the order's")
	}
	return nil
}

func (o *Owners) settles(e *bank.Entry, a *order.Order, l *bank.Ledger) error {
	market := a.Value("account")
	if err := o.ofMarket(e, market); err != nil {
		return err
	}
	owner := l.EscrowOwner(e.Contract)
	for _, m := range e.Moves {
		if m.To != owner && !o.of(m.To).payee[market[len("market:"):]] {
			return fmt.Errorf("found a payment to %s, want one to %s or a payee of %s", m.To, owner, market)
		}
	}
	return written(e, a)
}

func (o *Owners) penalty(e *bank.Entry, a *order.Order) error {
	market := a.Value("account")
	if err := o.ofMarket(e, market); err != nil {
		return err
	}
	for _, m := range e.Moves {
		if m.From != market {
			return fmt.Errorf("found a penalty out of %s, want one out of %s", m.From, market)
		}
	}
	return written(e, a)
}

// records returns an error unless an owner record is possible and the right account requested
// it.
func (o *Owners) records(a *order.Order) error {
	account, name, key := a.Value("account"), a.Value("of"), a.Value("key")
	asks := o.of(name)
	var by string // account that must request the record
	switch a.Kind {
	case "rotate":
		by, name = account, account
	case "enrol":
		if by = operator; asks.invited != "" && account == name {
			by = account
		}
	case "revoke":
		if by = operator; a.Value("right") == "" && (account == name || name == recovery) {
			by = name
		}
	case "recover":
		if by = operator; name == operator {
			by = recovery
		}
	default:
		by = operator
	}
	known := asks.key != ""
	switch {
	case account != by:
		return fmt.Errorf("found %s of %s by %s, want it by %s", a.Kind, name, account, by)
	case (a.Kind == "enrol" || a.Kind == "invite") && known:
		return fmt.Errorf("%s is already enrolled", name)
	case a.Kind == "revoke" && o.parties[name] == nil, a.Kind == "revoke" && a.Value("right") == "" && !o.has(name):
		return fmt.Errorf("%s has no key, right or invitation to revoke", name)
	case a.Kind == "recover" && (!known || name == recovery):
		return fmt.Errorf("%s cannot be recovered", name)
	case key != "" && (name == operator && key == o.of(recovery).key || name == recovery && key == o.of(operator).key):
		return errors.New("found the same key for operator and recovery, want two keys")
	case a.Kind == "right":
		return o.gives(a)
	}
	return nil
}

// gives returns an error if a right cannot be granted.
func (o *Owners) gives(a *order.Order) error {
	name := a.Value("of")
	right, with := a.Value("right"), a.Value("with")
	if right == "spend" {
		if by := a.Value("for"); !o.has(by) || by == name {
			return fmt.Errorf("%s cannot spend from %s: want a different account, with a key", by, name)
		}
		return nil
	}
	switch {
	case right != "payee" && !o.has(name):
		return fmt.Errorf("%s has no key: enrol it first", name)
	case with != "" && (!o.has(with) || with == name):
		return fmt.Errorf("%s cannot sign with %s: want a different account, with a key", with, name)
	case right != "settle":
		return nil
	}
	number := a.Number("number")
	if !strings.HasPrefix(name, "market:") {
		return fmt.Errorf("found a right to settle for %s, want it for a market, such as market:lab", name)
	}
	if held := o.markets[number]; held != "" && held != name {
		return fmt.Errorf("found number %d of %s, want an unused number", number, held)
	}
	return nil
}
