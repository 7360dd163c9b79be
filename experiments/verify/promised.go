package verify

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"bourse/bank/audit"
)

// A promised is a contract whose terms include a floor price, or a penalty for work that a
// host or the market fails to deliver.
type promised struct {
	owner      string
	budget     audit.Money
	lowest     audit.Money // lowest budget that the contract has had; penalties are fractions of it
	part, most float64
	floor      float64     // dollars per processor-second
	since      float64     // time of the admission, by the clock of the ledger
	deadline   float64     // deadline in seconds after the release of the contract
	nodes      int         // number of nodes; 0 if the terms do not state the hosts
	left       audit.Money // penalty that the market owes; 0 until the contract is settled
	poor       bool        // whether the market had no money to pay the penalty
}

// causes lists the possible reasons why a contract of a live market is violated. A penalty is
// owed for the causes in faults.
var causes, faults = []string{"", "program", "asked", "price", "market", "host"}, []string{"market", "host"}

// promise checks the penalty in the terms of a contract. The settlement must name a cause, and
// state the penalty that follows from the terms. That amount must be deducted from the payment
// to the host's owner or paid by the market. The market pays no more than the money that it
// has, and nothing if the contract's own account owes the penalty. A market of real hosts must
// not sell processors below the floor price. Such a market sends orders to its bank under its
// own name.
func (f *follower) promise(e *audit.Entry, holds func(string) audit.Money) (found, want string) {
	n := &f.note
	if e.Kind == audit.Admit {
		t := &n.terms
		if t.Part == 0 && t.Floor == 0 || len(e.Moves) != 1 {
			return "", ""
		}
		if t.Part != 0 && !(t.Part > 0 && t.Most >= 0) {
			return fmt.Sprintf("a penalty of %v of the budget, at most %v", t.Part, t.Most), "fractions above 0"
		}
		if f.promised == nil {
			f.promised = make(map[int64]*promised)
		}
		nodes := len(slices.DeleteFunc(slices.Clone(t.On), func(x any) bool { _, host := x.(string); return !host }))
		f.promised[e.Contract] = &promised{nodes: nodes, owner: string(e.Moves[0].From), budget: audit.Money(e.Moves[0].Micros), lowest: audit.Money(e.Moves[0].Micros), part: t.Part, most: t.Most, floor: t.Floor, since: e.Time, deadline: t.Deadline}
		return "", ""
	}
	p, v := f.promised[e.Contract], &n.verdict
	if p == nil {
		return "", ""
	}
	switch e.Kind {
	case audit.Adjust:
		for _, m := range e.Moves {
			if p.budget += audit.Money(m.Micros); string(m.From) != p.owner {
				p.budget -= 2 * audit.Money(m.Micros)
			}
		}
		p.lowest = min(p.lowest, p.budget)
	case audit.Settle:
		if p.part > 0 {
			found, want = p.settle(e, v)
		}
		if p.part == 0 {
			delete(f.promised, e.Contract)
		}
		market, _, ok := strings.Cut(string(e.ID), "/")
		p.poor = ok && holds(market) == 0
		if found == "" && ok && strings.HasPrefix(market, "market:") {
			found, want = p.least(e, v)
		}
		return found, want
	case audit.Penalty:
		paid := audit.Money(0)
		for _, m := range e.Moves {
			if paid += audit.Money(m.Micros); string(m.To) != p.owner {
				return fmt.Sprintf("a penalty paid to %q", m.To), "a penalty paid to " + p.owner
			}
		}
		if paid > p.left || paid < p.left && holds(string(e.Moves[0].From)) > 0 {
			return fmt.Sprintf("a penalty of %v", paid), fmt.Sprintf("%v, computed from the terms and the verdict of the contract", p.left)
		}
		delete(f.promised, e.Contract)
	}
	return "", ""
}

// settle checks the penalty stated in a settlement.
func (p *promised) settle(e *audit.Entry, v *verdict) (found, want string) {
	owed, err := v.owed()
	if err != nil {
		return fmt.Sprintf("a penalty of %.40q", v.Owed), "an amount"
	}
	withheld := audit.Money(0)
	if v.Withheld != "" {
		if withheld, err = parseMoney(v.Withheld); err != nil || withheld < 0 {
			return fmt.Sprintf("%.40q withheld", v.Withheld), "an amount"
		}
	}
	due := audit.Money(0)
	if v.State == "violated" {
		if v.Cause == "" || !slices.Contains(causes, v.Cause) {
			return fmt.Sprintf("a violated contract with cause %.40q", v.Cause), "program, asked, price, market or host"
		}
		if slices.Contains(faults, v.Cause) && v.Done < v.Work {
			due = min(p.of(p.part*(v.Work-max(0, v.Done))/v.Work), p.of(p.most))
		}
	}
	// Allow a difference of one micro-dollar, because the market multiplies and rounds in
	// another order.
	if d := owed - due; d < -1 || d > 1 {
		return fmt.Sprintf("a penalty owed of %v", owed), fmt.Sprintf("%v: %v of the budget of %v for missing work, at most %v", due, p.part, p.lowest, p.most)
	}
	if withheld > owed || withheld > 0 && v.Cause != "host" {
		return fmt.Sprintf("%v withheld from the charges of a host's owner", withheld), fmt.Sprintf("at most the penalty owed, %v, because a host caused the violation", owed)
	}
	for _, m := range e.Moves {
		if withheld < owed && v.Cause == "host" && string(m.To) == v.Payer && v.Payer != p.owner {
			return fmt.Sprintf("%v paid to %s, who owes a penalty of %v", audit.Money(m.Micros), v.Payer, owed), "the penalty, withheld first from the charges of that account"
		}
	}
	if p.left = owed - withheld; v.Payer == p.owner {
		p.left = 0
	}
	return "", ""
}

// least checks the amount paid or withheld. It must be at least the floor price of the
// processor-seconds delivered by the deadline, limited by the budget. Programs that ended early did not
// need all of the work that counts as done.
func (p *promised) least(e *audit.Entry, v *verdict) (found, want string) {
	if p.floor == 0 || !(v.Done > 0) || v.Fault != "" {
		return "", ""
	}
	paid, _ := parseMoney(v.Withheld)
	refund, own := audit.Money(0), 0
	for _, m := range e.Moves {
		if paid += audit.Money(m.Micros); string(m.To) == p.owner {
			refund = audit.Money(m.Micros)
			own++
		}
	}
	if !p.ownHosts(e, v, own) {
		paid -= refund
	}
	least := min(float64(p.budget), 1e6*p.floor*(v.Done-v.Unused))
	if float64(paid) < least*(1-1e-9)-1 { // allows one rounding error
		return fmt.Sprintf("%v paid for %v CPU s", paid, v.Done), fmt.Sprintf("at least %v, the floor price", audit.Money(least))
	}
	return "", ""
}

// ownHosts reports whether all moves of a settlement to the contract's owner, own of them, can
// be charges of the owner's hosts. A refund is the last of these moves, and the earlier moves
// are charges. If the charges reach the budget, however, there is no refund, and the moves
// alone do not show whether there is one. There is at most one charge for each try of a node.
// Charges can reach the budget only if the contract is exhausted or ran until its deadline,
// because its bids spend the budget by then. The market's clock may differ from the ledger's in
// rate, which the tolerance allows.
func (p *promised) ownHosts(e *audit.Entry, v *verdict, own int) bool {
	return e.Payee && (p.nodes == 0 || own <= p.nodes+v.Losses) && (v.Spent || e.Time-p.since >= 0.99*p.deadline-1)
}

// of returns the given fraction of the lowest budget.
func (p *promised) of(part float64) audit.Money {
	return audit.Money(math.Floor(min(part*float64(p.lowest), 1<<62) * (1 + 1e-15)))
}

// unpaid returns a finding about a penalty that a market has not paid, or nil.
func (f *follower) unpaid(seq int64) *audit.Finding {
	first := int64(-1)
	for id, p := range f.promised {
		if p.left > 0 && !p.poor && (first < 0 || id < first) {
			first = id
		}
	}
	if first < 0 {
		return nil
	}
	p := f.promised[first]
	return &audit.Finding{Seq: seq + 1, Found: "the end of the ledger", Want: fmt.Sprintf("the penalty owed to contract %d, %v to %s", first, p.left, p.owner)}
}
