package broker

import (
	"fmt"
	"math/bits"

	"bourse/bank"
	"bourse/bank/exact"
	"bourse/contracts"
	"bourse/contracts/note"
	"bourse/contracts/settlement"
	"bourse/market"
)

// Rebid changes the budget of a running contract, and its bids accordingly. The part of the
// budget that is not yet owed is bid over the remaining time. Let O be the amount owed,
// rounded up to a micro-dollar, and t the time until the deadline. The sum of the new bids is
// (budget - O) / t, divided in the proportions of the current bids. Each new bid is rounded
// toward zero. For example, a contract bids 1,000 and 3,000 nano-dollars per second, owes
// $0.00002, and has 50 s left. With a new budget of $0.0002 it bids 900 and 2,700. Rebid with
// the same budget renews the bids.
//
// The policy can reject the new bids if it is a [contracts.Rebidder]. A rejection changes nothing. Rebid returns an error wrapping ErrNoContract if there is no such
// contract. The decision is valid until the next call. The broker must already have been advanced
// to now.
func (b *Broker) Rebid(now float64, id contracts.ID, budget bank.Amount) (*contracts.Decision, error) {
	i, ok := b.find(id)
	if !ok {
		return nil, fmt.Errorf("bid for %d: %w", id, ErrNoContract)
	}
	b.now, b.answer = now, contracts.Decision{}
	c, d := &b.contracts[i], &b.answer
	switch {
	case c.phase != contracts.Running:
		d.Reason = contracts.NotRunning
		return d, nil
	case b.Payment.Whole || c.rated || b.floor.Contract(c.run).Gang:
		d.Reason = contracts.FixedPrice
		return d, nil
	}
	b.floor.MoveTo(now)
	owed, err := settlement.Owed(b.floor.Spent(now, c.run))
	if err != nil {
		return nil, fmt.Errorf("bid for %d: %w", id, err)
	}
	if d.Numbers = append(d.Numbers, contracts.Paid("owed", owed)); budget.Cmp(owed) <= 0 {
		d.Reason = contracts.SpentAlready
		return d, nil
	}
	left, err := budget.Sub(owed)
	if err != nil {
		return nil, fmt.Errorf("bid for %d: %w", id, err)
	}
	on, ok := rebids(b.floor.Contract(c.run).Placements, left, c.Due()-now)
	if !ok {
		d.Reason = contracts.NoBid
		return d, nil
	}
	if d.Placements = on; b.below(&c.Request, d) {
		return d, nil
	}
	if p, ok := b.Policy.(contracts.Rebidder); ok {
		if by := p.Rebid(now, c.run, on, &b.floor); by.Verdict != contracts.Accept {
			d.Reason, d.Numbers = by.Reason, append(d.Numbers, by.Numbers...)
			return d, nil
		}
	}
	if ok, err = c.pays(d, b.Teller.Adjust(now, int64(id), budget, b.adjusted(owed, on))); !ok {
		return d, err
	}
	d.Verdict = contracts.Accept
	c.SLA.Budget, c.price = budget, budget
	b.floor.Adjust(now, c.run, &c.SLA, on)
	b.freed = true // prices have changed for waiting requests
	return d, b.offer()
}

// rebids returns a copy of the placements in which the nodes on hosts have new bids. The bids
// spend the money left over t seconds, in the proportions of the old bids. rebids reports
// whether each of these nodes has a bid. All arithmetic is exact.
func rebids(was []contracts.Placement, left bank.Amount, t float64) (on []contracts.Placement, ok bool) {
	const places = 9 - 6 // digits by which micro-dollars and nano-dollars differ
	rate, ok := exact.Trunc(places, []float64{float64(left.Micros())}, []float64{t})
	var sum uint64
	for _, pl := range was {
		if !pl.Left {
			sum += uint64(pl.Bid)
		}
	}
	if !ok || sum == 0 || market.Rate(rate) > market.MaxRate {
		return nil, false
	}
	on = append(on, was...)
	for n := range on {
		if pl := &on[n]; !pl.Left {
			over, under := bits.Mul64(uint64(rate), uint64(pl.Bid))
			bid, _ := bits.Div64(over, under, sum) // below 2^64, because no bid exceeds the sum
			if pl.Bid = market.Rate(bid); bid == 0 {
				return nil, false
			}
		}
	}
	return on, true
}

// adjusted returns the note of a changed budget. The note is valid until the next note.
func (b *Broker) adjusted(owed bank.Amount, on []contracts.Placement) []byte {
	n := &b.scratch.note
	if *n = (*n)[:0]; b.Notes {
		*n = note.Adjusted(*n, owed, on, b.nameOf)
	}
	return *n
}
