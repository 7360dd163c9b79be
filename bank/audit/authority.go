package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/bank/order"
)

// An authority tracks the rights of accounts. It derives the rights only from the entries, and
// implements the rules of bank/owners independently. The two packages share only the parser of
// orders.
type authority struct {
	pinned []string // public keys with which the operator and recovery must have started

	ledger  string // id of the ledger; empty while the ledger is open
	keys    map[string]string
	former  map[ownedKey]int64 // number of the entry that removed each key
	invited map[string]invited
	grants  map[grant]bool // rights payee, read and audit
	mints   map[string]*allowance
	budgets map[budget]*limit // rights to spend
	regains map[int64]regain  // open contracts whose refunds lower the sum of such a right
	numbers map[string]int64  // number of each market with the right to settle
	used    map[place]int64   // number of the entry for each request; nil if the ledger stores the requests
	orders  int64

	checked []checked // orders of the next entries, parsed in advance
	rest    []byte    // bytes that follow the order of the last entry
}

// A place identifies a request by a hash of its id.
type place [sha256.Size / 2]byte

func placeOf(id string) place {
	sum := sha256.Sum256([]byte(id))
	return place(sum[:len(place{})])
}

type ownedKey struct{ account, key string }

type invited struct {
	key   string
	until float64
}

// A grant is a right without further terms. A right of kind "payee" also names a market.
type grant struct{ account, right, market string }

// A budget identifies the right of one account to spend the money of another account.
type budget struct{ of, by string }

// A limit is the maximum amount that may be spent under such a right, and the sum of the
// amounts that count against it.
type limit struct {
	most, sum Money
	regains   bool // a settled contract counts only with its payments to others
}

// A regain is the right under which a contract was admitted, with the budget of the contract at
// its admission.
type regain struct {
	right budget
	held  Money
}

// An allowance is an account's right to mint.
type allowance struct {
	cap    Money
	period int64
	with   string
	minted Money // amount minted in the latest period
	began  int64 // number of the latest period, or -1

	any   bool // whether the cap applies to every span of one period's length
	spent []spent
}

// A spent is an amount that was minted, with the time of the issue. If more than 64 amounts
// were minted in the last period, the oldest ones are combined.
type spent struct {
	at    float64
	money Money
}

// passes discards amounts minted more than a period ago, if the cap applies to every span.
func (m *allowance) passes(now float64) {
	for len(m.spent) > 0 && now-m.spent[0].at >= float64(m.period) {
		m.minted -= m.spent[0].money
		m.spent = m.spent[1:]
	}
}

// spend records a mint.
func (m *allowance) spend(now float64, money Money) {
	m.minted += money
	if !m.any {
		return
	}
	m.spent = append(slices.Clone(m.spent), spent{now, money})
	if len(m.spent) > 64 {
		m.spent[1].money += m.spent[0].money
		m.spent = m.spent[1:]
	}
}

// owned reports whether the next entries require orders.
func (a *authority) owned() bool { return a.ledger != "" }

// check returns a description of the error in the order of e, the next entry in b. If there is
// no error, check records the effect of the entry.
func (a *authority) check(e *Entry, b *books) (found, want string) {
	if !a.owned() {
		e.Payee = true
		if a.used != nil && len(e.ID) > 0 {
			place := placeOf(string(e.ID))
			if before := a.used[place]; before > 0 {
				return fmt.Sprintf("request %q, which entry %d already has", e.ID, before), "each request booked once"
			}
			a.used[place] = e.Seq
		}
		if e.Kind == Owner {
			return a.begin(e)
		}
		if e.Kind == Refuse {
			return "a refusal in an open ledger", "a refusal of a signed order in an owned ledger"
		}
		return "", ""
	}
	s, err := a.order(e)
	if err != nil {
		return fmt.Sprintf("an entry without a signed order: %v", err), "an order: the ledger is owned"
	}
	account := s.Value("account")
	id := account + "/" + s.Value("id")
	place := placeOf(id)
	switch before := a.used[place]; {
	case s.Value("ledger") != a.ledger:
		return "an order for ledger " + s.Value("ledger"), "one for this ledger, " + a.ledger
	case before > 0:
		return fmt.Sprintf("order %s, which entry %d already used", id, before), "each order used once"
	case string(e.ID) != id:
		return fmt.Sprintf("request %q on order %q", e.ID, id), "the order's own id"
	case len(s.Rest) > 0 && (e.Kind == Transfer || e.Kind == Issue || e.Kind == Owner):
		return fmt.Sprintf("unsigned text %.60q after the signatures", s.Rest), "no unsigned text"
	case e.Kind == Refuse:
	case e.Time-300 > s.Expires() || math.IsNaN(e.Time):
		return "an order that expired at " + s.Value("expires"), "one that was valid within the five minutes before the entry"
	}
	if found, want = a.signature(e, s, account); found != "" {
		return found, want
	}
	if found, want = a.rule(e, s, b); found != "" {
		return found, want
	}
	a.used[place] = e.Seq
	a.orders++
	a.rest = s.Rest
	return "", ""
}

// begin processes the entry that makes the ledger owned.
func (a *authority) begin(e *Entry) (found, want string) {
	o, err := order.Parse(string(e.Note))
	if err != nil || o.Kind != "own" {
		return fmt.Sprintf("an owner record in an open ledger: %.60q", e.Note), "own, which names its operator"
	}
	for i, key := range a.pinned {
		if name := []string{"operator", "recovery"}[i]; o.Value(name) != key {
			return fmt.Sprintf("a ledger whose %s started with key %s", name, o.Value(name)), key + ", the key given"
		}
	}
	used := a.used
	if used == nil {
		used = make(map[place]int64)
	}
	*a = authority{
		pinned: a.pinned, checked: a.checked, used: used, ledger: o.Value("ledger"),
		keys:   map[string]string{"operator": o.Value("operator"), "recovery": o.Value("recovery")},
		former: make(map[ownedKey]int64), invited: make(map[string]invited), grants: make(map[grant]bool),
		mints: make(map[string]*allowance), budgets: make(map[budget]*limit), regains: make(map[int64]regain), numbers: make(map[string]int64),
	}
	return "", ""
}

// signature checks that the order of e is signed by exactly the required keys.
func (a *authority) signature(e *Entry, s *order.Signed, account string) (found, want string) {
	must := []ownedKey{{account, a.keys[account]}}
	if i := a.invited[account]; s.Kind == "enrol" && s.Value("of") == account {
		if must[0].key = i.key; e.Time > i.until {
			return fmt.Sprintf("an enrolment of %s without a valid invitation", account), "an invitation at most an hour old"
		}
	}
	if m := a.mints[account]; s.Kind == "mint" && m != nil && m.with != "" {
		if a.keys[m.with] == a.keys[account] {
			return fmt.Sprintf("one key of %s and %s", account, m.with), "two different signing keys"
		}
		must = append(must, ownedKey{m.with, a.keys[m.with]})
	}
	for _, k := range must {
		if k.key != "" && s.By(k.key) {
			continue
		}
		for old, at := range a.former {
			if old.account == k.account && s.By(old.key) {
				return fmt.Sprintf("an order signed by a key of %s that entry %d revoked", k.account, at), "a signature by its current key"
			}
		}
		return fmt.Sprintf("an order that the key of %s did not sign", k.account), "its signature"
	}
	if s.Signatures() > len(must) {
		return fmt.Sprintf("%d signatures", s.Signatures()), fmt.Sprint(len(must))
	}
	return "", ""
}

// rule checks that the signing account may request e.
func (a *authority) rule(e *Entry, s *order.Signed, b *books) (found, want string) {
	account := s.Value("account")
	kind, known := map[string]byte{"transfer": Transfer, "mint": Issue, "order": Admit, "settle": Settle, "penalty": Penalty, "bid": Adjust}[s.Kind]
	if e.Kind == Owner {
		return a.record(e, s.Order, account)
	}
	if e.Kind == Refuse { // the requests of a market are never recorded as refused
		if kind == Admit || kind == Settle || kind == Penalty || kind == Adjust || s.Kind == "read" || s.Kind == "cancel" {
			return "a refusal of an order of kind " + s.Kind, "a refusal of a transfer, a mint or an owner record"
		}
		return "", ""
	}
	if !known || e.Kind != kind && (e.Kind != Reject || kind != Admit) {
		return fmt.Sprintf("an order of kind %s for an entry of kind %d", s.Kind, e.Kind), "an order for this kind of entry"
	}
	market := account
	if kind == Admit || kind == Adjust {
		market = "market:" + s.Value("market")
	}
	if number, ok := a.numbers[market]; kind == Admit || kind == Adjust || kind == Settle || kind == Penalty {
		if !ok {
			return market + " without the right to settle", "a market with that right"
		}
		if e.Contract < number*(1<<32) || e.Contract >= (number+1)*(1<<32) {
			return fmt.Sprintf("contract %d under %s", e.Contract, market), fmt.Sprintf("one of its own, numbered from %d", number*(1<<32))
		}
	}
	first := e.First()
	switch e.Kind {
	case Transfer:
		if len(e.Moves) != 1 || string(first.From) != account || string(first.To) != s.Value("to") || Money(first.Micros).String() != s.Value("amount") {
			return fmt.Sprintf("a transfer of %v from %q to %q", Money(first.Micros), first.From, first.To), fmt.Sprintf("the order's transfer of %s from %s to %s", s.Value("amount"), account, s.Value("to"))
		}
	case Issue:
		return a.mint(e, s, account)
	case Admit:
		payer := account
		if project := s.Value("project"); project != "" {
			payer = "project:" + project
		}
		if string(first.From) != payer || first.Micros > s.Money("budget").Micros() {
			return fmt.Sprintf("%v of %q held in escrow", Money(first.Micros), first.From), fmt.Sprintf("at most %s of %s", s.Value("budget"), payer)
		}
		if payer == account {
			return "", ""
		}
		right := a.budgets[budget{payer, account}]
		if right == nil || right.sum+Money(first.Micros) > right.most {
			return fmt.Sprintf("%v of %s held for %s", Money(first.Micros), payer, account), "at most the rest of its right to spend"
		}
		if right.sum += Money(first.Micros); right.regains {
			a.regains[e.Contract] = regain{budget{payer, account}, Money(first.Micros)}
		}
	case Adjust:
		return adjustment(e, s, account, b)
	case Settle:
		return a.settlement(e, s, market, b)
	case Penalty:
		for _, m := range e.Moves {
			if string(m.From) != market {
				return fmt.Sprintf("a penalty out of %q", m.From), "one out of " + market
			}
		}
		return exactly(e, s)
	}
	return "", ""
}

// mint checks an issue against its allowance.
func (a *authority) mint(e *Entry, s *order.Signed, account string) (found, want string) {
	m, first := a.mints[account], e.First()
	if m == nil {
		return "a mint by " + account, "one by an account with the right"
	}
	if len(e.Moves) != 1 || string(first.To) != s.Value("to") || Money(first.Micros).String() != s.Value("amount") {
		return fmt.Sprintf("an issue of %v to %q", Money(first.Micros), first.To), fmt.Sprintf("the order's issue of %s to %s", s.Value("amount"), s.Value("to"))
	}
	if m.any {
		m.passes(e.Time)
	} else if now := int64(e.Time / float64(m.period)); now != m.began {
		m.began, m.minted = now, 0
	}
	if Money(first.Micros) > m.cap-m.minted {
		return fmt.Sprintf("a mint of %v by %s on top of %v", Money(first.Micros), account, m.minted), fmt.Sprintf("at most %v in %d s", m.cap, m.period)
	}
	m.spend(e.Time, Money(first.Micros))
	return "", ""
}

// adjustment checks that the owner of the escrow of e has requested the budget that the escrow
// has after e.
func adjustment(e *Entry, s *order.Signed, account string, b *books) (found, want string) {
	esc := b.escrows[e.Contract]
	if esc == nil { // books reports the missing escrow
		return "", ""
	}
	budget := esc.holds
	if m := e.First(); len(m.From) > 0 {
		budget += Money(m.Micros)
	} else {
		budget -= Money(m.Micros)
	}
	if n := s.Value("contract"); esc.owner != account || n != fmt.Sprint(e.Contract) && n != fmt.Sprint(e.Contract%(1<<32)) || budget.String() != s.Value("budget") {
		return fmt.Sprintf("a budget of %v for contract %d of %s", budget, e.Contract, esc.owner), fmt.Sprintf("%s for contract %s of %s, as the order says", s.Value("budget"), n, account)
	}
	return "", ""
}

// settlement checks that only permitted accounts are paid.
func (a *authority) settlement(e *Entry, s *order.Signed, market string, b *books) (found, want string) {
	owner := ""
	if esc := b.escrows[e.Contract]; esc != nil {
		owner = esc.owner
	}
	paid := func(account string) bool {
		return a.grants[grant{account, "payee", strings.TrimPrefix(market, "market:")}]
	}
	e.Payee = paid(owner)
	for _, m := range e.Moves {
		if to := string(m.To); to != owner && !paid(to) {
			return fmt.Sprintf("a payment to %q out of the escrow of contract %d", to, e.Contract), "one to its owner or a payee of " + market
		}
	}
	if found, want = exactly(e, s); found == "" {
		a.regain(e)
	}
	return found, want
}

// regain lowers the sum of a right to spend by the part of a contract's first budget that the
// settlement e did not pay to others.
func (a *authority) regain(e *Entry) {
	r, is := a.regains[e.Contract]
	if !is {
		return
	}
	delete(a.regains, e.Contract)
	var others Money
	for _, m := range e.Moves {
		if string(m.To) != r.right.of {
			others += Money(m.Micros)
		}
	}
	a.budgets[r.right].sum -= max(0, r.held-others)
}

// exactly checks that e has the contract and the moves that its order states.
func exactly(e *Entry, s *order.Signed) (found, want string) {
	var text strings.Builder
	own := fmt.Sprintf("escrow:%d", e.Contract)
	for _, m := range e.Moves {
		from := string(m.From)
		if from == "" {
			from = own
		}
		fmt.Fprintf(&text, "%s %s %s\n", from, m.To, Money(m.Micros))
	}
	sum := sha256.Sum256([]byte(text.String()))
	if s.Value("contract") != fmt.Sprint(e.Contract) || s.Value("moves") != "sha256:"+hex.EncodeToString(sum[:]) {
		return fmt.Sprintf("contract %d, moves sha256:%x", e.Contract, sum), fmt.Sprintf("contract %s, moves %s, as the order says", s.Value("contract"), s.Value("moves"))
	}
	return "", ""
}

// record checks an owner record and applies it.
func (a *authority) record(e *Entry, o *order.Order, account string) (found, want string) {
	if account == "operator" {
		return a.byOperator(e, o)
	}
	of, key := o.Value("of"), o.Value("key")
	own := of == account
	switch {
	case o.Kind == "rotate":
		return a.take(e, account, key)
	case o.Kind == "enrol" && own && a.knows(of):
		return "a second enrolment of " + of, "one enrolment per account"
	case o.Kind == "enrol" && own:
		delete(a.invited, of)
		return a.take(e, of, key)
	case o.Kind == "revoke" && own && o.Value("right") == "":
		return a.take(e, of, "")
	case o.Kind == "recover" && account == "recovery" && of == "operator":
		return a.take(e, of, key)
	}
	return fmt.Sprintf("%s of %s by %s", o.Kind, of, account), "an order that this account may give"
}

// knows reports whether an account has ever had a key.
func (a *authority) knows(account string) bool {
	_, ok := a.keys[account]
	return ok
}

// take records the new key of an account; an empty key means no key.
func (a *authority) take(e *Entry, account, key string) (found, want string) {
	if other := map[string]string{"operator": "recovery", "recovery": "operator"}[account]; key != "" && other != "" && a.keys[other] == key {
		return "the same key for operator and recovery", "two different keys"
	}
	if old := a.keys[account]; old != "" {
		a.former[ownedKey{account, old}] = e.Seq
	}
	delete(a.former, ownedKey{account, key})
	delete(a.invited, account)
	a.keys[account] = key
	return "", ""
}

// byOperator checks an order of the operator and applies it.
func (a *authority) byOperator(e *Entry, o *order.Order) (found, want string) {
	of, key, right := o.Value("of"), o.Value("key"), o.Value("right")
	refused := func(why string) (string, string) { return fmt.Sprintf("%s of %s by operator", o.Kind, of), why }
	switch o.Kind {
	case "rotate":
		return a.take(e, "operator", key)
	case "enrol", "invite":
		if a.knows(of) {
			return refused("one enrolment per account")
		}
		if o.Kind == "enrol" {
			return a.take(e, of, key)
		}
		a.invited[of] = invited{key, e.Time + 3600}
	case "recover":
		if !a.knows(of) || of == "operator" || of == "recovery" {
			return refused("an account that has had a key; only recovery recovers operator")
		}
		return a.take(e, of, key)
	case "revoke":
		switch {
		case right == "" && (of == "recovery" || a.keys[of] == ""):
			return refused("an account other than recovery, with a key")
		case right == "":
			return a.take(e, of, "")
		case !a.any(of):
			return refused("an account with a key, a right or an invitation")
		case right == "mint":
			delete(a.mints, of)
		case right == "settle":
			delete(a.numbers, of)
		case right == "spend":
			was := budget{of, o.Value("for")}
			delete(a.budgets, was)
			maps.DeleteFunc(a.regains, func(_ int64, r regain) bool { return r.right == was })
		default:
			delete(a.grants, grant{of, right, o.Value("market")})
		}
	case "right":
		return a.give(o, of, right)
	default:
		return refused("an order that this account may give")
	}
	return "", ""
}

// any reports whether an account has, or has had, a key, or has a right or an invitation.
func (a *authority) any(account string) bool {
	_, minted := a.mints[account]
	_, settles := a.numbers[account]
	_, is := a.invited[account]
	if a.knows(account) || minted || settles || is {
		return true
	}
	for g := range a.grants {
		if g.account == account {
			return true
		}
	}
	for right := range a.budgets {
		if right.of == account {
			return true
		}
	}
	return false
}

// give records a right.
func (a *authority) give(o *order.Order, of, right string) (found, want string) {
	if by := o.Value("for"); right == "spend" {
		if by == of || a.keys[by] == "" {
			return fmt.Sprintf("a right to spend from %s for %s", of, by), "one for another account, with a key"
		}
		was := a.budgets[budget{of, by}]
		if was == nil {
			was = new(limit)
		}
		a.budgets[budget{of, by}] = &limit{Money(o.Money("most").Micros()), was.sum, o.Value("refunds") == "credited"}
		return "", ""
	}
	if right != "payee" && a.keys[of] == "" {
		return fmt.Sprintf("right %s for %s, which has no key", right, of), "one for an account with a key"
	}
	switch right {
	case "mint":
		with := o.Value("with")
		if with == of || with != "" && a.keys[with] == "" {
			return fmt.Sprintf("a right to mint for %s with %s", of, with), "another account, with a key"
		}
		m := &allowance{cap: Money(o.Money("cap").Micros()), period: o.Number("period"), with: with, began: -1, any: o.Value("window") == "sliding"}
		if was := a.mints[of]; was != nil && was.period == m.period && was.any == m.any {
			m.minted, m.began, m.spent = was.minted, was.began, was.spent
		}
		a.mints[of] = m
	case "settle":
		for market, number := range a.numbers {
			if number == o.Number("number") && market != of {
				return fmt.Sprintf("number %d for %s", number, of), "a number that does not belong to " + market
			}
		}
		if !strings.HasPrefix(of, "market:") {
			return "a right to settle for " + of, "one for a market"
		}
		a.numbers[of] = o.Number("number")
	default:
		a.grants[grant{of, right, o.Value("market")}] = true
	}
	return "", ""
}

// rows returns the owner rows that the ledger must have stored, by account.
func (a *authority) rows() map[string]string {
	rows := make(map[string]string)
	if !a.owned() {
		return rows
	}
	rows["/ledger"] = a.ledger
	for account, key := range a.keys {
		if key == "" {
			key = "-"
		}
		rows[account] += "key " + key + "\n"
	}
	for account, i := range a.invited {
		rows[account] += fmt.Sprintf("invitation %s %s\n", i.key, strconv.FormatFloat(i.until, 'g', -1, 64))
	}
	for account, m := range a.mints {
		with := m.with
		if with == "" {
			with = "-"
		}
		if !m.any {
			rows[account] += fmt.Sprintf("mint %v %d %s %d %v\n", m.cap, m.period, with, m.began, m.minted)
			continue
		}
		row := fmt.Sprintf("mint %v %d %s sliding ", m.cap, m.period, with)
		for i, s := range m.spent {
			if i > 0 {
				row += ","
			}
			row += strconv.FormatFloat(s.at, 'g', -1, 64) + "=" + s.money.String()
		}
		if len(m.spent) == 0 {
			row += "-"
		}
		rows[account] += row + "\n"
	}
	for market, number := range a.numbers {
		rows[market] += fmt.Sprintf("settle %d\n", number)
	}
	for contract, r := range a.regains {
		rows[fmt.Sprintf("/contract/%d", contract)] = fmt.Sprintf("%s %s %v", r.right.of, r.right.by, r.held)
	}
	var grants []grant
	for right, m := range a.budgets {
		text := fmt.Sprintf("%s %v %v", right.by, m.most, m.sum)
		if m.regains {
			text += " refunds credited"
		}
		grants = append(grants, grant{right.of, "spend", text})
	}
	for g := range a.grants {
		grants = append(grants, g)
	}
	slices.SortFunc(grants, func(x, y grant) int {
		place := []string{"payee", "spend", "read", "audit"}
		return 2*(slices.Index(place, x.right)-slices.Index(place, y.right)) + strings.Compare(x.market, y.market)
	})
	for _, g := range grants {
		rows[g.account] += strings.TrimSuffix(g.right+" "+g.market, " ") + "\n"
	}
	return rows
}

// finishOwners checks that the ledger is owned if initial keys were given.
func (a *auditor) finishOwners() {
	if pinned := a.authority.pinned; len(pinned) > 0 && !a.authority.owned() && a.bad == nil {
		a.fileFinding("", "an open ledger", "one whose operator started with key "+pinned[0])
	}
}
