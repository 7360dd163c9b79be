package verify

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"bourse/bank/audit"
)

// An adjusted contains the fields of the note about a changed budget.
type adjusted struct {
	Owed string
	On   []any
}

// A bidding is the part of an open contract that determines its bids after a change of its
// budget.
type bidding struct {
	owner  string
	budget audit.Money
	due    float64 // deadline, s
	on     []any   // bids and hosts, as in the last note of the contract
}

// bidsOn returns the bids in a note, by host. It reports whether each host occurs once.
func bidsOn(on []any) (bids map[string]int64, ok bool) {
	bid, bids := int64(-1), make(map[string]int64)
	for _, x := range on {
		switch x := x.(type) {
		case float64:
			bid = int64(x)
		case string:
			if bids[x] != 0 {
				return nil, false
			}
			bids[x] = bid
		}
	}
	return bids, len(bids) > 0
}

// rebids checks a change to a budget. The budget must exceed the amount owed. The sum of the
// new bids must be the difference divided by the remaining time. This sum must be divided in
// proportion to the former bids, and each bid must be rounded toward zero. The ledger of a live
// market contains the times of its bank, which are up to a few seconds later than those of the
// market. The budget after an entry follows from the moves of all entries of the contract.
func (f *follower) rebids(e *audit.Entry) (found, want string) {
	switch e.Kind {
	case audit.Admit:
		t := &f.note.terms
		if len(t.On) == 0 || !known(t.Submit) || len(e.Moves) != 1 {
			return "", ""
		}
		if f.bidding == nil {
			f.bidding = make(map[int64]*bidding)
		}
		f.bidding[e.Contract] = &bidding{string(e.Moves[0].From), audit.Money(e.Moves[0].Micros), t.due(), t.On}
	case audit.Settle:
		delete(f.bidding, e.Contract)
	case audit.Adjust:
		b := f.bidding[e.Contract]
		if b == nil {
			return "", "" // the ledger starts after the contract was admitted, or does not state its bids
		}
		for _, m := range e.Moves {
			if b.budget += audit.Money(m.Micros); string(m.From) != b.owner {
				b.budget -= 2 * audit.Money(m.Micros)
			}
		}
		return b.follow(e, &f.note.adjusted)
	}
	return "", ""
}

// follow compares the new bids with the former bids and replaces these.
func (b *bidding) follow(e *audit.Entry, n *adjusted) (found, want string) {
	owed, err := parseMoney(n.Owed)
	bids, ok := bidsOn(n.On)
	was, _ := bidsOn(b.on)
	switch {
	case err != nil || owed < 0:
		return fmt.Sprintf("%.40q owed", n.Owed), "an amount"
	case owed >= b.budget:
		return fmt.Sprintf("a budget of %v with %v owed", b.budget, owed), "a budget above the amount owed"
	case !ok:
		return fmt.Sprintf("bids %v", n.On), "bids, each followed by its hosts"
	}
	left, within := b.due-e.Time, 1e-9
	if strings.Contains(string(e.ID), "/") { // only orders to a live market have such an ID
		within += 5 / max(left, 1e-3)
	}
	sum, rate := 0.0, float64(b.budget-owed)*1e3/max(left, 1e-3)
	hosts := slices.Sorted(maps.Keys(bids)) // in this order, the first finding is the same in every run
	for _, host := range hosts {
		if was[host] == 0 {
			return fmt.Sprintf("a bid on %q", host), "bids on the hosts of the contract"
		}
		sum += float64(was[host])
	}
	for _, host := range hosts {
		bid := bids[host]
		fair := rate * float64(was[host]) / sum
		if math.Abs(float64(bid)-fair) > 1+within*fair || bid <= 0 {
			return fmt.Sprintf("a bid of %d nano-dollars per second on %q", bid, host), fmt.Sprintf("%.0f, the part of this host in %v over %v s", math.Floor(fair), b.budget-owed, left)
		}
	}
	b.on = n.On
	return "", ""
}

// adjust recomputes the amount that d owes at the change to its budget, and gives its tasks
// their new bids. The field d.value already contains the new budget.
func (t *trail) adjust(e *audit.Entry, d *contract, a *adjusted) (found, want string) {
	m := t.market
	if t.run.Rules.Packed { // a note states one bid per host
		t.stop(e, "a contract that may have several nodes on a host changes its budget")
		return "", ""
	}
	if m.pass(e.Time, false); m.unsure {
		t.stop(e, unsure)
		return "", ""
	}
	low, high := 0.0, 0.0 // bounds of the amount owed, in micro-dollars
	for i := range d.tasks {
		n := &d.tasks[i]
		m.advance(n.host, e.Time)
		if n.on {
			m.bring(n)
		}
		low += n.owed / 1e3
		high += (n.owed + n.extra) / 1e3
	}
	owed, err := parseMoney(a.Owed)
	least, most := math.Ceil(low*(1-1e-9)-1e-6), math.Ceil(high*(1+1e-9)+1e-6)
	if err != nil || float64(owed) < least || float64(owed) > most {
		return fmt.Sprintf("%.40q owed", a.Owed), fmt.Sprintf("%v, computed from share, price and time", audit.Money(math.Ceil(low)))
	}
	bids, _ := bidsOn(a.On)
	for i := range d.tasks {
		n := &d.tasks[i]
		bid := bids[n.host.name]
		switch {
		case n.on && bid <= 0:
			return fmt.Sprintf("bids %v", a.On), fmt.Sprintf("a bid on %q, on which the contract runs", n.host.name)
		case n.on:
			m.takeOff(n)
			m.rebid(n, e.Time, bid)
			m.weigh(n)
			m.stand(n)
			m.allocate(n.host)
		}
	}
	m.lasts(d, e.Time)
	return "", ""
}
